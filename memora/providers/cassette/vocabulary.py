"""The words that servers speak in: field names, types and codes of the API, and what errors are worded with.

Only these words stay in what a server says about an error; names, Chinese, keys, addresses and paths are none of them.
"""

from __future__ import annotations

_API = """
    accepted added additional all allowed annotation annotations api apply approval argument arguments array
    assistant at attributes audio auto background base batch billing body boolean bytes cache cached call
    call_id calls chat choice chunk chunks citation code command compact compacted completed completion
    completions computer container content conversation cost count create created custom data date default
    delta description detail details developer dimensions document done effort embedding embeddings encoding
    encrypted end ended enum environment error errors event events exclusive expires extra failed failure
    field fields file files filter final find finish finished flex float following format found frequency full
    function functions generation grammar guard header headers high id ids image images include incomplete
    index input inputs instructions integer interpreter item items json key label language last left length
    level limit limits line list loc local locked logprob logprobs low max maximum mcp medium message messages
    metadata method min minimal minimum model models moderation mode modalities msg multi name namespace
    nested new next none not null number object obfuscation of on only open option optional options order
    organization original output outputs owned owner page parallel param parameter parameters parsed part
    partial parts path pattern penalty permission phase position presence previous priority probability
    process progress project prompt properties provide provided property provider queued quota raw read ready
    reason reasoning refusal refused rejected repeat request requests required requirement response responses
    result results resource retention retry return right said role root run safety schema search searching
    seed segment sequence server service session shell size source standard start started state status step
    stop stopped store stored stream streamed streaming strict string structured subject summary support
    supported system temperature text tier time timeout timestamp title token tokens tool tools top total
    trace transcript transcription truncated truncation type types unit update updated upgrade url urls usage
    user value values verbosity version voice web whole width with write written xhigh
"""
_SENTENCES = """
    a about above access account active after again allow also already although an and another any are arrived
    as available away back bad be because been before began begin being below between body both broke broken
    busy but by can cannot change check choose client close closed come configuration connect connection
    contact contain contains context control corrupt could credentials credit currently decode deprecated did
    different disabled disconnected does doing down duplicate during each either else empty enabled encode
    encountered endpoint engine enough entity exceed exceeded exceeds exception exist existing exists expected
    expecting expired fail fails forbidden for from gateway generate generated get given go gone got handle
    has have help how http if ignore ignored illegal in incorrect initialize initialized insufficient instead
    internal invalid is it its itself keep large later least less load loaded loading long longer lost made
    make malformed many may memory might missing more most much must need needs never no nor now occurred one
    or other out over overloaded own parse parser parsing per permitted please plan policy post present
    problem processing proper proxy put quickly rate reach reached received reduce refer refers repeated
    requested required requires reset restart restarting revoked same samplers see seems send sending sent
    should shown shut since small so some soon specified still such temporarily than that the their them then
    there these they this those through to too try trying two unable unauthorized unauthenticated unavailable
    under unexpected unknown unprocessable unreachable unrecognized unsupported until up upstream use used
    uses using valid verified verify very violation wait was way we were what when where whether which while
    who why will within without work working would wrong yet zero
"""
_NAMES = """
    basehttp organization owner chatcmpl cloudflare cpp envoy fc gguf gpt gunicorn istio library litellm llama
    llamacpp llmock lm memora msg nginx ollama openai openrouter ratelimit req resp rpm rs studio tpm uvicorn
    vllm
"""

WORDS = frozenset(_API.split()) | frozenset(_SENTENCES.split()) | frozenset(_NAMES.split())
"""In small letters."""
