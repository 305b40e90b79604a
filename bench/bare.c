/* The least that a module must do which keeps a log in a sorted set: the server's own calls, and nothing
 * that decides anything. No module of this kind is faster, so its figures tell what is left to take.
 *
 *   BARE.REFUSED key     opens the key, reads the newest element, replies
 *   BARE.ADMITTED key    the same, and adds an element, replicates that, and signals the key
 *
 * No clock, no arguments, no limit, no expiry, nothing trimmed. */
#include "redismodule.h"
#include <math.h>

static RedisModuleKey *open_and_read(RedisModuleCtx *ctx, RedisModuleString *name) {
    RedisModuleKey *key = RedisModule_OpenKey(ctx, name, REDISMODULE_READ | REDISMODULE_WRITE);
    if (RedisModule_KeyType(key) == REDISMODULE_KEYTYPE_ZSET) {
        RedisModule_ZsetLastInScoreRange(key, -INFINITY, INFINITY, 0, 0);
        double score;
        RedisModule_FreeString(ctx, RedisModule_ZsetRangeCurrentElement(key, &score));
    }
    return key;
}

static int refused(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    if (argc != 2) return RedisModule_WrongArity(ctx);
    RedisModule_CloseKey(open_and_read(ctx, argv[1]));
    return RedisModule_ReplyWithLongLong(ctx, 0);
}

/* Members of 7 digits and scores of 16, as those of SLIDEWIN.CHECK, behind every loaded score. */
static int admitted(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    static long long calls = 0;
    if (argc != 2) return RedisModule_WrongArity(ctx);
    RedisModuleKey *key = open_and_read(ctx, argv[1]);
    char digits[7];
    for (long long at = sizeof digits, rest = 4200000 + calls % 5000000; at--; rest /= 10) digits[at] = '0' + rest % 10;
    long long score = 8000000000000000 + calls++;
    RedisModuleString *member = RedisModule_CreateString(ctx, digits, sizeof digits);
    RedisModule_ZsetAdd(key, (double)score, member, NULL);
    RedisModule_Replicate(ctx, "ZADD", "sls", argv[1], score, member);
    RedisModule_FreeString(ctx, member);
    RedisModule_SignalModifiedKey(ctx, argv[1]);
    RedisModule_CloseKey(key);
    return RedisModule_ReplyWithLongLong(ctx, 1);
}

int RedisModule_OnLoad(RedisModuleCtx *ctx, RedisModuleString **argv, int argc) {
    (void)argv, (void)argc;
    if (RedisModule_Init(ctx, "bare", 1, REDISMODULE_APIVER_1) == REDISMODULE_ERR) return REDISMODULE_ERR;
    RedisModule_SetModuleOptions(ctx, REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED);
    if (RedisModule_CreateCommand(ctx, "bare.refused", refused, "write fast", 1, 1, 1) == REDISMODULE_ERR ||
        RedisModule_CreateCommand(ctx, "bare.admitted", admitted, "write fast", 1, 1, 1) == REDISMODULE_ERR)
        return REDISMODULE_ERR;
    return REDISMODULE_OK;
}
