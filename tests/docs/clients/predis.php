<?php
// predis, for docs/clients.md: `php predis.php MODE` says what happened. See ../test_clients.py.
require 'Predis/Autoloader.php';
Predis\Autoloader::register();

$port = (int) getenv('PORT');
$nodes = array_map(fn ($node) => "tcp://127.0.0.1:$node", array_filter(explode(',', (string) getenv('NODES'))));

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

$modes = [
    'call' => function () use ($port) {
        $client = new Predis\Client("tcp://127.0.0.1:$port");
        $check = ['SLIDEWIN.CHECK', 'rl:ann', '1m', 1];
        $raw = function (...$words) use ($client) {
            $reply = $client->executeRaw($words, $is_error);
            return $is_error ? new ErrorException($reply) : $reply;
        };
        return [
            attempt(fn () => $raw(...$check)),
            attempt(fn () => $raw(...$check)),
            attempt(fn () => $raw(...$check, ...['WITHQUOTA'])),
            kind($client->executeRaw(['SLIDEWIN.CHECK', 'rl:ann', 'soon', 1], $is_error)) . ($is_error ? ', $error is true' : ''),
        ];
    },
    'cluster' => function () use ($nodes) {
        $cluster = new Predis\Client($nodes, ['cluster' => 'redis']);
        $strategy = $cluster->getConnection()->getClusterStrategy();
        $strategy->setCommandHandler('SLIDEWIN.CHECK', fn ($command) => $command->getArgument(0));
        return array_map(
            fn ($n) => attempt(fn () => $cluster->executeRaw(['SLIDEWIN.CHECK', "rl:$n", '1m', 1])),
            range(0, 49)
        );
    },
    'lost' => fn () => [attempt(fn () => (new Predis\Client("tcp://127.0.0.1:$port"))->executeRaw(
        ['SLIDEWIN.CHECK', 'rl:ann', '1m', 9]
    ))],
];

echo json_encode($modes[$argv[1]]()), "\n";
