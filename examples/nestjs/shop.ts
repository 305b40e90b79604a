// A small shop with limits on its routes. `npm start` serves it on PORT, 3000 if that is not set.
import 'reflect-metadata';
import { Body, Controller, Get, HttpCode, Module, Post, UnauthorizedException } from '@nestjs/common';
import { APP_GUARD, NestFactory } from '@nestjs/core';
import { minutes, SkipThrottle, ThrottlerGuard, ThrottlerModule } from '@nestjs/throttler';
import { storage } from './limits.js';

@Controller()
class Shop {
  @Get()
  @SkipThrottle({ login: true })
  page() {
    return 'Shoes 80.00, hat 25.00, umbrella 15.00\n';
  }

  @Post('login')
  @HttpCode(200)
  @SkipThrottle({ page: true })
  login(@Body('password') password: unknown) {
    if (password !== 'correct horse') throw new UnauthorizedException('Wrong password.');
    return 'Welcome.\n';
  }
}

@Module({
  imports: [ThrottlerModule.forRoot({
    throttlers: [
      { name: 'page', ttl: minutes(1), limit: 100 },
      { name: 'login', ttl: minutes(5), limit: 5 },
    ],
    storage,
  })],
  controllers: [Shop],
  providers: [{ provide: APP_GUARD, useClass: ThrottlerGuard }],
})
class App {}

const app = await NestFactory.create(App, { logger: ['warn', 'error'] });
await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1');
