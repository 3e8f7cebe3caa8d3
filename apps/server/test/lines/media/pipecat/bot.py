"""A bot around Pipecat's own serializer: messages of the stream come as lines, and what it says leaves as lines.

`twilio.py` is Pipecat's file as published (BSD-2-Clause, see LICENSE). What it imports of Pipecat, of aiohttp and of loguru
is stood in for here, as far as the serializer uses it. The bot says a tone once the call has begun, and ends its pipeline
when the callee presses #.

usage: bot.py server: hangs up by the server that the start message names
       bot.py URL: hangs up by that one, with credentials that nobody knows
"""

import asyncio
import base64
import json
import sys
import types
import urllib.error
import urllib.request
from dataclasses import dataclass
from enum import Enum
from pathlib import Path


def module(name, **members):
    made = types.ModuleType(name)
    made.__dict__.update(members)
    sys.modules[name] = made


class Logger:
    def __getattr__(self, level):
        return lambda text: print(level, text, file=sys.stderr)


@dataclass
class Audio:
    audio: bytes
    num_channels: int = 1
    sample_rate: int = 8000


class InputAudio(Audio):
    pass


class KeypadEntry(Enum):
    POUND = "#"
    ONE = "1"


@dataclass
class Dtmf:
    button: KeypadEntry


class EndFrame:
    pass


class Serializer:
    @dataclass
    class InputParams:
        ignore_rtvi_messages: bool = True
        resampler_clear_after_secs: float = 0.2

        def __init_subclass__(cls):
            dataclass(cls)

    def __init__(self, params):
        self._params = params

    def should_ignore_frame(self, frame):
        return False


class Response:
    def __init__(self, status, body):
        self.status = status
        self._body = body

    async def __aenter__(self):
        return self

    async def __aexit__(self, *_):
        pass

    async def text(self):
        return self._body

    async def json(self):
        return json.loads(self._body)


class BasicAuth:
    def __init__(self, user, password):
        self.header = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


class ClientSession(Response):
    def __init__(self):
        pass

    def post(self, url, auth, data):
        body = "&".join(f"{name}={value}" for name, value in data.items()).encode()
        request = urllib.request.Request(url, body, {"Authorization": auth.header})
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return Response(answer.status, answer.read().decode())
        except urllib.error.HTTPError as error:
            return Response(error.code, error.read().decode())


async def as_it_is(audio, *_):
    return audio


nothing = type("Nothing", (), {})
module("loguru", logger=Logger())
module("aiohttp", BasicAuth=BasicAuth, ClientSession=ClientSession)
for package in ("", ".audio", ".audio.dtmf", ".frames", ".processors", ".serializers"):
    module("pipecat" + package)
module("pipecat.audio.dtmf.types", KeypadEntry=KeypadEntry)
module(
    "pipecat.audio.utils",
    create_stream_resampler=lambda **_: None,
    pcm_to_ulaw=as_it_is,
    ulaw_to_pcm=as_it_is,
)
module(
    "pipecat.frames.frames",
    AudioRawFrame=Audio,
    CancelFrame=type("CancelFrame", (), {}),
    EndFrame=EndFrame,
    Frame=object,
    InputAudioRawFrame=InputAudio,
    InputDTMFFrame=Dtmf,
    InterruptionFrame=type("InterruptionFrame", (), {}),
    OutputTransportMessageFrame=nothing,
    OutputTransportMessageUrgentFrame=nothing,
)
module("pipecat.processors.frame_processor", FrameProcessorSetup=object)
module("pipecat.serializers.base_serializer", FrameSerializer=Serializer)

sys.path.insert(0, str(Path(__file__).parent))
from twilio import TwilioFrameSerializer  # noqa: E402


def say(text):
    print(text, flush=True)


async def main(hangs_up_by):
    serializer = None
    for line in sys.stdin:
        message = json.loads(line)
        if message["event"] == "start":
            start = message["start"]
            told = json.loads(start["customParameters"]["trunkline"])
            known = hangs_up_by == "server"
            serializer = TwilioFrameSerializer(
                stream_sid=start["streamSid"],
                call_sid=start["callSid"],
                account_sid=start["accountSid"] if known else "AC1",
                auth_token=told["token"] if known else "any text",
                base_url=told["apiUrl"] if known else hangs_up_by,
            )
            await serializer.setup(types.SimpleNamespace(audio_in_sample_rate=8000))
            tone = bytes([0x80, 0x00] * 4000)
            say(await serializer.serialize(Audio(tone)))
            continue
        if serializer is None:
            continue
        frame = await serializer.deserialize(line)
        if isinstance(frame, Dtmf) and frame.button is KeypadEntry.POUND:
            await serializer.serialize(EndFrame())
            return


asyncio.run(main(sys.argv[1]))
