/** 20 ms at 16 kHz. */
const FRAME = 320;
/** What is kept before it is played, against jitter: 60 ms; and at most, one second. */
const BEGIN = 960;
const MOST = 16_000;

/** Posts what the microphone hears, as PCM of 16 bits. */
class Microphone extends AudioWorkletProcessor {
  #frame = new Int16Array(FRAME);
  #length = 0;

  process([[samples]]) {
    for (const sample of samples ?? []) {
      this.#frame[this.#length++] = Math.max(-32_768, Math.min(32_767, Math.round(sample * 32_767)));
      if (this.#length < FRAME) continue;
      this.port.postMessage(this.#frame.buffer, [this.#frame.buffer]);
      this.#frame = new Int16Array(FRAME);
      this.#length = 0;
    }
    return true;
  }
}

/** Plays the PCM that it is posted. */
class Speaker extends AudioWorkletProcessor {
  #waiting = new Float32Array(0);
  #isPlaying = false;

  constructor() {
    super();
    this.port.onmessage = ({ data }) => {
      const pcm = new Int16Array(data);
      const all = new Float32Array(this.#waiting.length + pcm.length);
      all.set(this.#waiting);
      for (let at = 0; at < pcm.length; at += 1) all[this.#waiting.length + at] = pcm[at] / 32_768;
      this.#waiting = all.length > MOST ? all.slice(all.length - BEGIN) : all;
    };
  }

  process(_inputs, [[out]]) {
    if (this.#waiting.length >= BEGIN) this.#isPlaying = true;
    if (this.#isPlaying) {
      out.set(this.#waiting.subarray(0, out.length));
      if (this.#waiting.length < out.length) this.#isPlaying = false;
      this.#waiting = this.#waiting.slice(out.length);
    }
    return true;
  }
}

registerProcessor('microphone', Microphone);
registerProcessor('speaker', Speaker);
