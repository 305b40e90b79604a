<?php
// phpredis, for docs/clients.md: `php phpredis.php MODE` says what happened. See ../test_clients.py.
$port = (int) getenv('PORT');
$nodes = array_map(fn ($node) => "127.0.0.1:$node", array_filter(explode(',', (string) getenv('NODES'))));

function kind($reply) {
    return is_array($reply) ? 'array of ' . gettype($reply[0]) : gettype($reply) . ' ' . json_encode($reply);
}

function attempt($call) {
    try {
        return kind($call());
    } catch (Throwable $error) {
        return get_class($error);
    }
}

function open($port) {
    $redis = new Redis();
    $redis->connect('127.0.0.1', $port);
    return $redis;
}

$modes = [
    'call' => function () use ($port) {
        $redis = open($port);
        $check = ['SLIDEWIN.CHECK', 'rl:ann', '1m', 1];
        $replies = [
            attempt(fn () => $redis->rawCommand(...$check)),
            attempt(fn () => $redis->rawCommand(...$check)),
            attempt(fn () => $redis->rawCommand(...$check, ...['WITHQUOTA'])),
            attempt(fn () => $redis->rawCommand('SLIDEWIN.CHECK', 'rl:ann', 'soon', 1)),
        ];
        $replies[] = strtok($redis->getLastError(), ' ');
        $redis->clearLastError();
        $redis->rawCommand(...$check);
        $replies[] = kind($redis->getLastError());
        return $replies;
    },
    'cluster' => function () use ($nodes) {
        $cluster = new RedisCluster(null, $nodes);
        return array_map(
            fn ($n) => attempt(fn () => $cluster->rawCommand("rl:$n", 'SLIDEWIN.CHECK', "rl:$n", '1m', 1)),
            range(0, 49)
        );
    },
    'replica' => function () use ($nodes) {
        $cluster = new RedisCluster(null, $nodes);
        $cluster->setOption(RedisCluster::OPT_SLAVE_FAILOVER, RedisCluster::FAILOVER_DISTRIBUTE_SLAVES);
        return array_map(
            fn ($n) => attempt(fn () => $cluster->rawCommand("rl:$n", 'SLIDEWIN.PEEK', "rl:$n", '1m', 1)),
            range(0, 49)
        );
    },
    'lost' => fn () => [attempt(fn () => open($port)->rawCommand('SLIDEWIN.CHECK', 'rl:ann', '1m', 9))],
];

echo json_encode($modes[$argv[1]]()), "\n";
