/* A module that answers keyspace events by commands, run at once, inside the call that the event is about.
 *
 *   SUBSCRIBER.WHEN event key command [argument ...]   from now on that event of that key runs this command
 *   SUBSCRIBER.RAN                                     how often commands were run since; forgets what to run
 *
 * An event is one that the server publishes, such as `new`, or `deleted`: the server event of a key that is being
 * deleted by whatever means. Servers before 7.2 have none. A command that answers with an error ends the server. */
#include "redismodule.h"
#include <string.h>

static struct {
    RedisModuleString *argv[16]; /* event, key, command, arguments */
    int argc;
    int runs; /* such a command causes events of its own */
    long long ran;
} reaction;

static int equals(RedisModuleString *string, const char *bytes, size_t length) {
    size_t have;
    const char *start = RedisModule_StringPtrLen(string, &have);
    return have == length && !memcmp(start, bytes, length);
}

static void react(RedisModuleCtx *ctx, const char *event, const RedisModuleString *key) {
    size_t length;
    const char *name = RedisModule_StringPtrLen(key, &length);
    if (reaction.runs || !reaction.argc || !equals(reaction.argv[0], event, strlen(event)) ||
        !equals(reaction.argv[1], name, length))
        return;
    reaction.runs = 1;
    RedisModuleString **argv = reaction.argv + 2;
    RedisModuleCallReply *reply = RedisModule_Call(ctx, RedisModule_StringPtrLen(argv[0], NULL), "v", argv + 1,
                                                   (size_t)reaction.argc - 3);
    RedisModule_Assert(reply && RedisModule_CallReplyType(reply) != REDISMODULE_REPLY_ERROR);
    RedisModule_FreeCallReply(reply);
    reaction.runs = 0;
    reaction.ran++;
}

static int on_event(RedisModuleCtx *ctx, int type, const char *event, RedisModuleString *key) {
    (void)type;
    react(ctx, event, key);
    return REDISMODULE_OK;
}

static void on_deleted(RedisModuleCtx *ctx, RedisModuleEvent event, uint64_t kind, void *data) {
    (void)event;
    if (kind == REDISMODULE_SUBEVENT_KEY_DELETED)
        react(ctx, "deleted", RedisModule_GetKeyNameFromModuleKey(((RedisModuleKeyInfo *)data)->key));
}

static void forget(RedisModuleCtx *ctx) {
    while (reaction.argc) RedisModule_FreeString(ctx, reaction.argv[--reaction.argc]);
    reaction.ran = 0;
}

static int when(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc < 4 || argc > 17) return RedisModule_WrongArity(ctx);
    forget(ctx);
    for (; reaction.argc < argc - 1; reaction.argc++) {
        RedisModule_RetainString(ctx, argv[reaction.argc + 1]);
        reaction.argv[reaction.argc] = argv[reaction.argc + 1];
    }
    return RedisModule_ReplyWithSimpleString(ctx, "OK");
}

static int ran(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv;
    if (argc != 1) return RedisModule_WrongArity(ctx);
    RedisModule_ReplyWithLongLong(ctx, reaction.ran);
    forget(ctx);
    return REDISMODULE_OK;
}

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv, (void)argc;
    if (RedisModule_Init(ctx, "subscriber", 1, REDISMODULE_APIVER_1) == REDISMODULE_ERR) return REDISMODULE_ERR;
    if (RedisModule_SubscribeToServerEvent && RedisModule_GetKeyNameFromModuleKey)
        RedisModule_SubscribeToServerEvent(ctx, RedisModuleEvent_Key, on_deleted);
    int events = REDISMODULE_NOTIFY_GENERIC | REDISMODULE_NOTIFY_EXPIRED | REDISMODULE_NOTIFY_MODULE | REDISMODULE_NOTIFY_NEW;
    if (RedisModule_SubscribeToKeyspaceEvents(ctx, events, on_event) == REDISMODULE_ERR ||
        RedisModule_CreateCommand(ctx, "subscriber.when", when, "", 0, 0, 0) == REDISMODULE_ERR ||
        RedisModule_CreateCommand(ctx, "subscriber.ran", ran, "", 0, 0, 0) == REDISMODULE_ERR)
        return REDISMODULE_ERR;
    return REDISMODULE_OK;
}
