// Requests to an application under test.

/** Listens with a node:http style server for this test, and answers its address. */
export async function listen(t, server) {
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${server.address().port}`;
}

/** The statuses of so many requests sent at once, counted: `{ 200: 10, 429: 40 }`. */
export async function atOnce(count, url) {
  const counted = {};
  for (const response of await Promise.all(Array.from({ length: count }, () => fetch(url)))) {
    counted[response.status] = (counted[response.status] ?? 0) + 1;
  }
  return counted;
}
