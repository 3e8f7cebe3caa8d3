// A bridge of Twilio's streams to the realtime API at a URL, by OpenAI's own transport. It runs where that is installed,
// hangs up once the caller has heard the second thing that the model says, and tells of marks and errors.
import { TwilioRealtimeTransportLayer } from '@openai/agents-extensions';
import { WebSocketServer } from 'ws';

const [, , url] = process.argv;
const tell = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
server.on('listening', () => tell({ port: server.address().port }));
server.on('connection', (socket) => {
  const sent = [];
  const back = [];
  const errors = [];
  const send = socket.send.bind(socket);
  socket.send = (text) => {
    const { event, mark } = JSON.parse(text);
    if (event === 'mark') sent.push(mark.name);
    send(text);
  };
  const transport = new TwilioRealtimeTransportLayer({ twilioWebSocket: socket });
  transport.on('error', ({ error }) => errors.push(String(error?.message ?? error)));
  transport.connect({ apiKey: 'sk-test', url });
  socket.on('message', (data) => {
    const { event, mark } = JSON.parse(data);
    if (event !== 'mark') return;
    back.push(mark.name);
    if (mark.name.startsWith('done:item_2')) socket.close(1000);
  });
  socket.on('close', () => tell({ sent, back, errors }));
});
