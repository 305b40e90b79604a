# redis-rb, for docs/clients.md: `ruby redis_rb.rb MODE` says what happened. See ../test_clients.py.
require 'json'
require 'redis'

PORT = ENV['PORT'].to_i
NODES = ENV.fetch('NODES', '').split(',').map { |node| "redis://127.0.0.1:#{node}" }
CHECK = ['SLIDEWIN.CHECK', 'rl:ann', '1m', 1].freeze

def kind(reply)
  reply.is_a?(Array) ? "Array of #{reply[0].class}" : "#{reply.class} #{reply}"
end

def attempt
  kind(yield)
rescue StandardError => e
  e.class.name
end

def call
  redis = Redis.new(port: PORT)
  [
    attempt { redis.call(*CHECK) },
    attempt { redis.call(*CHECK) },
    attempt { redis.call(*CHECK, 'WITHQUOTA') },
    attempt { redis.call('SLIDEWIN.CHECK', 'rl:ann', 'soon', 1) }
  ]
end

# From 5.0 on a cluster needs a gem of its own.
def clustered(**options)
  return Redis.new(cluster: NODES, **options) if Redis::VERSION.to_i < 5

  require 'redis-clustering'
  Redis::Cluster.new(nodes: NODES, **options)
end

def cluster
  redis = clustered
  (0...50).map { |n| attempt { redis.call('SLIDEWIN.CHECK', "rl:#{n}", '1m', 1) } }
end

def replica
  redis = clustered(replica: true)
  (0...50).map { |n| attempt { redis.call('SLIDEWIN.PEEK', "rl:#{n}", '1m', 1) } }
end

def lost
  [attempt { Redis.new(port: PORT).call('SLIDEWIN.CHECK', 'rl:ann', '1m', 9) }]
end

def lost_once
  [attempt { Redis.new(port: PORT, reconnect_attempts: 0).call('SLIDEWIN.CHECK', 'rl:ann', '1m', 9) }]
end

puts JSON.generate(send(ARGV[0]))
