const find = (id) => document.getElementById(id);
const [form, key, agents, variables, hangUp] = ['setup', 'key', 'agent', 'variables', 'hang-up'].map(find);

/** The talk that is up, and the lines of its turns by their names. */
let talk;
const turns = new Map();

function show(text) {
  find('state').textContent = text;
}

function note(text, who = '') {
  const line = document.createElement('li');
  line.textContent = text;
  line.className = who;
  find('log').append(line);
  return line;
}

async function ask(path, body) {
  const response = await fetch(path, {
    method: body ? 'POST' : 'GET',
    headers: { ...(key.value && { 'X-API-Key': key.value }), ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error ?? `The server answered ${response.status}.`);
  return answer.data;
}

/** Whether this browser is signed in to the console: no key is asked for then. */
async function isSignedIn() {
  const { ok } = await fetch('/v1/session');
  key.required = !ok;
  return ok;
}

/** Fills the list of agents. */
async function listAgents() {
  if (!key.value && !(await isSignedIn())) return;
  const { items } = await ask('/v1/agents?perPage=100');
  // Who is signed in and may not talk can still give a key.
  key.parentElement.hidden = !key.value;
  const wanted = new URLSearchParams(location.search).get('agent');
  if (wanted && !items.some(({ id }) => id === wanted))
    items.unshift(await ask(`/v1/agents/${encodeURIComponent(wanted)}`));
  agents.replaceChildren(...items.map(({ id, name }) => new Option(name, id, false, id === wanted)));
  show(items.length > 0 ? '' : 'There is no agent yet: make one first.');
}

/** `first_name=Ada` a line. */
const read = (text) =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line.includes('='))
      .map((line) => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1).trim()]),
  );

async function openSound(socket) {
  if (!navigator.mediaDevices)
    throw new Error('A browser gives no microphone over plain HTTP, but on localhost: use HTTPS.');
  const context = new AudioContext({ sampleRate: 16_000 });
  await context.audioWorklet.addModule('/talk/sound.js');
  const wanted = { echoCancellation: true, noiseSuppression: true, autoGainControl: true, channelCount: 1 };
  const stream = await navigator.mediaDevices.getUserMedia({ audio: wanted });
  const microphone = new AudioWorkletNode(context, 'microphone', { numberOfOutputs: 0 });
  const speaker = new AudioWorkletNode(context, 'speaker', { numberOfInputs: 0, outputChannelCount: [1] });
  context.createMediaStreamSource(stream).connect(microphone);
  speaker.connect(context.destination);
  microphone.port.onmessage = ({ data }) => socket.readyState === WebSocket.OPEN && socket.send(data);
  return {
    play: (pcm) => speaker.port.postMessage(pcm, [pcm]),
    close: () => {
      for (const track of stream.getTracks()) track.stop();
      void context.close();
    },
  };
}

const heard = {
  answered: () => show('You are connected: speak.'),
  turn: ({ item, role, text, interrupted }) => {
    if (!text) return;
    if (!turns.has(item)) turns.set(item, note('', role));
    turns.get(item).textContent = interrupted ? `${text} …` : text;
  },
  request: ({ request, answer }) => {
    // The turns show what a model's tools came to.
    if (request.type === 'use_tool') return;
    const { transcript: _transcript, ...result } = request.result ?? {};
    const shown = request.result ? result : request;
    if (!request.result || Object.keys(result).length > 0) note(`${JSON.stringify(shown)} → ${answer ?? ''}`, 'system');
  },
  ended: ({ endedBy, agentEnd }) => {
    note(`Ended by the ${endedBy}${agentEnd?.text ? `: ${agentEnd.text}` : ''}.`);
    over('Over.');
  },
};

function over(text) {
  talk?.sound?.close();
  talk = undefined;
  hangUp.disabled = true;
  find('talk').disabled = false;
  find('keys').hidden = true;
  show(text);
}

async function begin() {
  const { url } = await ask(`/v1/agents/${agents.value}/talk`, { variables: read(variables.value) });
  const { pathname } = new URL(url);
  const socket = new WebSocket(new URL(pathname, location.href.replace(/^http/, 'ws')));
  socket.binaryType = 'arraybuffer';
  talk = { socket };
  socket.onmessage = ({ data }) => {
    if (typeof data !== 'string') talk?.sound?.play(data);
    else {
      const told = JSON.parse(data);
      heard[told.event]?.(told);
    }
  };
  socket.onclose = ({ code, reason }) =>
    talk?.socket === socket && over(code === 1000 ? 'Over.' : reason || `The connection was closed (${code}).`);
  talk.sound = await openSound(socket);
  hangUp.disabled = false;
  find('keys').hidden = false;
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  find('talk').disabled = true;
  find('log').replaceChildren();
  turns.clear();
  show('The agent is being connected …');
  try {
    await begin();
  } catch (error) {
    talk?.socket.close(1000);
    over(error.message);
  }
});
hangUp.addEventListener('click', () => talk?.socket.send(JSON.stringify({ event: 'hang_up' })));
key.addEventListener('change', () => listAgents().catch((error) => show(error.message)));
for (const digit of '123456789*0#') {
  const button = document.createElement('button');
  button.textContent = digit;
  button.addEventListener('click', () => talk?.socket.send(JSON.stringify({ event: 'digit', digit })));
  find('keys').append(button);
}

// A key that the address bears stays out of the history.
if (location.hash.length > 1) {
  key.value = decodeURIComponent(location.hash.slice(1));
  history.replaceState(null, '', location.pathname + location.search);
}
void listAgents().catch((error) => show(error.message));
