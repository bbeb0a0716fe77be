//! A gateway with a provider of each format and of each dialect, and what a client gets of it.

use crate::gateway::dialect::Dialect;
use crate::gateway::tests::*;

const VARIABLES: &[(&str, &str)] = &[
    ("ANTHROPIC_API_KEY", "sk-a-0123456789"),
    ("GEMINI_API_KEY", "sk-g-0123456789"),
    (
        "PROVIDERS",
        "deepseek,qwen,mistral,compat,openrouter,groq,moonshot,zai,dashscope,fireworks,ollama,gopenai,server,claudish",
    ),
    ("DEEPSEEK_BASE_URL", "https://api.deepseek.com/v1"),
    ("QWEN_BASE_URL", "https://vllm.example/v1"),
    ("MISTRAL_BASE_URL", "https://api.mistral.ai/v1"),
    ("COMPAT_BASE_URL", "https://models.example/v1"),
    ("OPENROUTER_BASE_URL", "https://openrouter.ai/api/v1"),
    ("GROQ_BASE_URL", "https://api.groq.com/openai/v1"),
    ("MOONSHOT_BASE_URL", "https://api.moonshot.ai/v1"),
    ("ZAI_BASE_URL", "https://api.z.ai/api/paas/v4"),
    ("DASHSCOPE_BASE_URL", "https://dashscope.aliyuncs.com/compatible-mode/v1"),
    ("FIREWORKS_BASE_URL", "https://api.fireworks.ai/inference/v1"),
    ("OLLAMA_BASE_URL", "http://localhost:11434/v1"),
    ("GOPENAI_BASE_URL", "https://gopenai.example/v1"),
    ("GOPENAI_DIALECT", "google"),
    ("SERVER_BASE_URL", "https://server.example/v1"),
    ("SERVER_API", "responses"),
    ("CLAUDISH_BASE_URL", "https://claudish.example"),
    ("CLAUDISH_API", "messages"),
];

/// The models, with the dialect that each of Chat Completions has, but for OpenAI.
pub(super) const MODELS: &[(&str, &str)] = &[
    ("openai/gpt-4.1", ""),
    ("openai/gpt-5", ""),
    ("openai/gpt-5.6-sol", ""),
    ("openai/gpt-5.3-codex", ""),
    ("anthropic/claude-sonnet-4-5", ""),
    ("anthropic/claude-opus-4-6", ""),
    ("anthropic/claude-opus-5", ""),
    ("anthropic/claude-fable-5-2", ""),
    ("google/gemini-2.5-flash", ""),
    ("google/gemini-3-pro-preview", ""),
    ("google/gemini-3.8-flash", ""),
    ("deepseek/deepseek-v4-pro", "deepseek"),
    ("deepseek/deepseek-chat", "deepseek"),
    ("qwen/qwen4", "default"),
    ("mistral/mistral-large-latest", "mistral"),
    ("compat/x", "default"),
    ("openrouter/x/y", "openrouter"),
    ("groq/x", "groq"),
    ("moonshot/kimi-k3", "moonshot"),
    ("zai/glm-6", "zai"),
    ("dashscope/qwen-max", "qwen"),
    ("fireworks/x", "fireworks"),
    ("ollama/x", "ollama"),
    ("gopenai/gemini-3-pro-preview", "google"),
    ("server/x", ""),
    ("claudish/x", ""),
    ("workers-ai/@cf/x/y", "default"),
];

/// The formats of clients, with their addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Front {
    Chat,
    Messages,
    Responses,
}

impl Front {
    pub(super) const ALL: [Self; 3] = [Self::Chat, Self::Messages, Self::Responses];

    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Chat => "/v1/chat/completions",
            Self::Messages => "/v1/messages",
            Self::Responses => "/v1/responses",
        }
    }
}

/// A gateway that many requests can be sent to.
pub(super) struct World {
    gateway: TestGateway,
    server: Server,
}

impl World {
    pub(super) fn new(upstream: fn(&HttpRequest<'_>) -> Result<HttpResponse, HttpError>) -> Self {
        let mut gateway = TestGateway::with(VARIABLES);
        gateway.host.upstream = upstream;
        gateway.host.bindings.insert("AI");
        let server = gateway.server();
        Self { gateway, server }
    }

    /// Sends a request to a model.
    pub(super) fn ask(&self, front: Front, model: &str, body: &Value) -> Reply {
        let mut body = body.clone();
        body["model"] = model.into();
        let headers = [JSON, LOCAL, ("anthropic-version", "2023-06-01")];
        self.gateway.send_to(&self.server, (Method::Post, front.path()), vec![], &headers, &body)
    }
}

/// The dialect of a model; `None` if it is not asked in Chat Completions, or by OpenAI.
pub(super) fn dialect(model: &str) -> Option<&'static Dialect> {
    let (_, name) = MODELS.iter().find(|(known, _)| *known == model).unwrap();
    Dialect::named(name)
}
