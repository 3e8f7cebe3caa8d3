import dagre from '@dagrejs/dagre';

// Draws the diagrams of docs/, which stand there as Mermaid's text, so that code hosts draw them too. As far as the
// guides need it: states with their moves (`a --> b : why`), and who tells whom what, one after another (`a ->> b: what`).

/** Of the monospaced 13 px that style.css sets. */
const LETTER = 7.9;
const LINE = 18;
const ROW = 30;
/** How far before a bend a line begins to turn. */
const CORNER = 14;

const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
/** A tenth of a pixel is as exact as anybody sees. */
const px = (value: number) => String(Math.round(value * 10) / 10);
const widthOf = (text: string) => text.length * LETTER;

const textAt = (x: number, y: number, text: string, anchor = 'middle') =>
  `<text x="${px(x)}" y="${px(y)}" text-anchor="${anchor}">${escaped(text)}</text>`;

const box = (x: number, y: number, width: number, text: string) =>
  `<rect x="${px(x - width / 2)}" y="${px(y - ROW / 2)}" width="${px(width)}" height="${ROW}" rx="6"/>${textAt(x, y + 4.5, text)}`;

/** A diagram as SVG. `title` says what it shows to who can't see it. */
export function drawDiagram(source: string, title: string): string {
  const [kind, ...lines] = source.trim().split('\n');
  const draw = { 'stateDiagram-v2': drawMoves, sequenceDiagram: drawLadder }[kind!.trim()];
  if (!draw) throw new Error(`No diagram of the kind ${kind} is drawn here`);
  const { left, width, height, parts } = draw(lines.map((line) => line.trim()).filter(Boolean));
  // An arrow's tip is named by its diagram: several stand on a page.
  const tip = `tip-${title.toLowerCase().replaceAll(/[^a-z]+/g, '-')}`;
  return `<svg role="img" aria-label="${escaped(title)}" width="${px(width)}" height="${px(height)}" viewBox="${px(left)} 0 ${px(width)} ${px(height)}">
<marker id="${tip}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path class="tip" d="M0 0 8 4 0 8z"/></marker>
${parts.join('\n').replaceAll('#tip', `#${tip}`)}
</svg>`;
}

interface Drawn {
  left: number;
  width: number;
  height: number;
  parts: string[];
}

interface Point {
  x: number;
  y: number;
}

function drawMoves(lines: string[]): Drawn {
  const graph = new dagre.graphlib.Graph();
  graph.setGraph({ rankdir: 'TB', nodesep: 22, edgesep: 14, ranksep: 34, marginx: 6, marginy: 6 });
  graph.setDefaultEdgeLabel(() => ({}));
  const node = (name: string, end: string) => {
    const id = name === '[*]' ? end : name;
    const size = name === '[*]' ? { width: 12, height: 12 } : { width: widthOf(name) + 20, height: ROW };
    graph.setNode(id, size);
    return id;
  };
  for (const line of lines) {
    const [, from, to, label] = /^(\S+) --> (\S+?)(?: ?: (.*))?$/.exec(line)!;
    // An end is shown by the state itself: an arrow to it from each would only fill the picture.
    if (to === '[*]') continue;
    const size = label ? { label, width: widthOf(label) + 8, height: LINE, labelpos: 'c' } : {};
    graph.setEdge(node(from!, 'start'), node(to!, 'end'), size);
  }
  const ends = lines.flatMap((line) => /^(\S+) --> \[\*\]$/.exec(line)?.[1] ?? []);
  dagre.layout(graph);
  const edges = graph.edges().map((edge) => {
    const { points, label, x, y } = graph.edge(edge) as { points: Point[]; label?: string; x: number; y: number };
    const said = label ? textAt(x, y + 4.5, label).replace('<text', '<text class="said"') : '';
    return `<path class="line" marker-end="url(#tip)" d="${curve(points)}"/>${said}`;
  });
  const nodes = graph.nodes().map((id) => {
    const { x, y, width } = graph.node(id);
    if (id === 'start') return `<circle class="tip" cx="${px(x)}" cy="${px(y)}" r="6"/>`;
    return ends.includes(id) ? `<g class="end">${box(x, y, width, id)}</g>` : box(x, y, width, id);
  });
  const { width, height } = graph.graph() as { width: number; height: number };
  // Lines may lead around outside of the boxes.
  const across = graph.edges().flatMap((edge) => (graph.edge(edge) as { points: Point[] }).points.map(({ x }) => x));
  const left = Math.min(0, ...across.map((x) => x - 6));
  return { left, width: Math.max(width, ...across.map((x) => x + 6)) - left, height, parts: [...edges, ...nodes] };
}

/** A line along the points, rounded at each of them. */
function curve(points: Point[]): string {
  const at = ({ x, y }: Point) => `${px(x)} ${px(y)}`;
  const last = points.length - 1;
  const parts = points.slice(1, last).map((point, index) => {
    const near = (other: Point) => {
      const part = Math.min(0.5, CORNER / Math.hypot(other.x - point.x, other.y - point.y));
      return at({ x: point.x + (other.x - point.x) * part, y: point.y + (other.y - point.y) * part });
    };
    return `L${near(points[index]!)}Q${at(point)} ${near(points[index + 2]!)}`;
  });
  return `M${at(points[0]!)}${parts.join('')}L${at(points[last]!)}`;
}

function drawLadder(lines: string[]): Drawn {
  const told = lines.flatMap((line) => {
    const [, from, to, text] = /^(\S+?)\s*->>\s*(\S+?): (.*)$/.exec(line) ?? [];
    return text ? [{ from: from!, to: to!, text }] : [];
  });
  const who = lines.flatMap((line) => {
    const [, id, name] = /^participant (\S+)(?: as (.*))?$/.exec(line) ?? [];
    return id ? [{ id, name: name ?? id }] : [];
  });
  const index = (id: string) => who.findIndex((each) => each.id === id);
  /** As far apart as their own names, and what is told between neighbours, need. */
  const places = [widthOf(who[0]!.name) / 2 + 16];
  for (const [at, { name }] of who.entries()) {
    if (at === 0) continue;
    const between = told.filter(({ from, to }) => Math.max(index(from), index(to)) === at);
    const needs = between.map(({ from, to, text }) => {
      const first = Math.min(index(from), index(to));
      return widthOf(text) + 24 - (places[at - 1]! - places[first]!);
    });
    places.push(places[at - 1]! + Math.max((widthOf(name) + widthOf(who[at - 1]!.name)) / 2 + 28, ...needs));
  }
  const height = 56 + told.length * 32;
  const heads = who.map(({ name }, at) => {
    const x = places[at]!;
    return `<path class="life" d="M${px(x)} ${ROW + 6}V${height - 4}"/>${box(x, ROW / 2 + 4, widthOf(name) + 20, name)}`;
  });
  const arrows = told.map(({ from, to, text }, row) => {
    const [x, end] = [places[index(from)]!, places[index(to)]!];
    const y = 72 + row * 32;
    const path = `<path class="line" marker-end="url(#tip)" d="M${px(x)} ${y}H${px(end)}"/>`;
    return path + textAt((x + end) / 2, y - 6, text);
  });
  const width = places.at(-1)! + widthOf(who.at(-1)!.name) / 2 + 16;
  return { left: 0, width, height, parts: [...heads, ...arrows] };
}
