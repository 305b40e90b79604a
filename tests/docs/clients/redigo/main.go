// redigo, for docs/clients.md: `redigo MODE` says what happened. See ../../test_clients.py.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/gomodule/redigo/redis"
)

func kind(reply interface{}, err error) string {
	if err != nil {
		return fmt.Sprintf("%T", err)
	}
	if list, ok := reply.([]interface{}); ok {
		return fmt.Sprintf("%T of %T", reply, list[0])
	}
	return fmt.Sprintf("%T %v", reply, reply)
}

func main() {
	con, err := redis.Dial("tcp", "127.0.0.1:"+os.Getenv("PORT"))
	if err != nil {
		panic(err)
	}
	do := func(args ...interface{}) string { return kind(con.Do("SLIDEWIN.CHECK", args...)) }
	modes := map[string]func() []string{
		"call": func() []string {
			return []string{
				do("rl:ann", "1m", 1), do("rl:ann", "1m", 1), do("rl:ann", "1m", 1, "WITHQUOTA"), do("rl:ann", "soon", 1),
			}
		},
		"lost": func() []string {
			reply, err := con.Do("SLIDEWIN.CHECK", "rl:ann", "1m", 9)
			return []string{kind(reply, err)}
		},
	}
	json.NewEncoder(os.Stdout).Encode(modes[os.Args[1]]())
}
