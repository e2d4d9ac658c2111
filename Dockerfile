# A small image that checks what is mounted at /work: docker run --rm -v "$PWD:/work:ro" mfsdp-lint recipes/
FROM python:3.12-slim AS build
WORKDIR /source
COPY pyproject.toml hatch_build.py README.md LICENSE ./
COPY src src
COPY rules rules
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheel .

FROM python:3.12-slim
RUN --mount=type=bind,from=build,source=/wheel,target=/wheel \
    pip install --no-cache-dir --no-compile /wheel/*.whl \
    && useradd --no-create-home --uid 10001 linter
USER linter
WORKDIR /work
ENV MFSDP_LINT_CACHE_DIR="" PYTHONDONTWRITEBYTECODE=1
ENTRYPOINT ["mfsdp-lint"]
