// The npm server with its defaults. Says its address, then emits as the lines of
// its standard input order: "<how many> <first number>".
import { createServer } from 'node:http';
import { createInterface } from 'node:readline';
import { Server } from 'socket.io';

const web = createServer();
const io = new Server(web, { serveClient: false });
const padding = 'x'.repeat(Number(process.argv[2]));
web.listen(0, '127.0.0.1', 4096, () => console.log(`127.0.0.1:${web.address().port}`));
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [n, first] = line.split(' ').map(Number);
    for (let i = 0; i < n; i++) io.emit('tick', first + i, padding);
  })
  .on('close', () => process.exit(0));
