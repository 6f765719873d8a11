#!/bin/sh
# The openai provider against a server of another make: LiteLLM's gateway, which answers with a text of its
# configuration, so that no model is needed. Fetched from the Python package registry into build/gateway, some 90
# packages; the gateway itself is pinned by version and hash.
#
#   tests/llm/gateway.sh [BUILD]
set -eu
cd -- "$(dirname -- "$0")/../.."

build=${1:-build}
dir=$build/gateway
port=${PORT:-4123}
export ASTRA_TEST_GATEWAY="http://127.0.0.1:$port/v1" ASTRA_TEST_GATEWAY_KEY="sk-gateway-5a6b7c8d9e0f1a2b3c4d"

if [ ! -x "$dir/bin/litellm" ]; then
    python3 -m venv "$dir"
    echo 'litellm==1.106.2 --hash=sha256:cb1a2a1e55a4a8350ae2167525dc0d06f59b078cd685fb3e0f5419f02da5420e' >"$dir/pinned"
    "$dir/bin/pip" download --quiet --no-deps --only-binary :all: --require-hashes -r "$dir/pinned" -d "$dir/wheel"
    "$dir/bin/pip" install --quiet "$(echo "$dir"/wheel/litellm-*.whl)[proxy]"
fi
cat >"$dir/config.yaml" <<'YAML'
model_list:
  - model_name: mock
    litellm_params:
      model: openai/mock
      api_key: none
      mock_response: "Vectorise the loads.\n```cuda\n__global__ void k() {}\n```\n"
YAML
LITELLM_MASTER_KEY=$ASTRA_TEST_GATEWAY_KEY LITELLM_LOCAL_MODEL_COST_MAP=True \
    "$dir/bin/litellm" --config "$dir/config.yaml" --host 127.0.0.1 --port "$port" >"$dir/log" 2>&1 &
server=$!
trap 'kill $server' EXIT
tries=0
until python3 -c "import socket; socket.create_connection(('127.0.0.1', $port), 1)" 2>/dev/null; do
    tries=$((tries + 1))
    if [ $tries -gt 90 ] || ! kill -0 $server 2>/dev/null; then
        tail -n 20 "$dir/log" >&2
        exit 1
    fi
    sleep 1
done
ninja -C "$build" --quiet tests/ask
tests/llm/run.py "$build/tests/ask" independent_server
