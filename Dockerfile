# The server as an image, from a clone: docker build -t trunkline .
# Debian, since the pinned Node and the embedded PostgreSQL need glibc. Its slim images lack libatomic, which Node needs.
FROM node:26-trixie-slim AS build
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
ENV CI=true
RUN node scripts/pnpm.mjs install --frozen-lockfile
# From here on by the Node that the lockfile names.
ENV PATH=/src/node_modules/.bin:$PATH
RUN turbo run build --filter=@trunkline/server --output-logs=errors-only
RUN pnpm --filter=@trunkline/server deploy --prod /app
# At its first start the embedded PostgreSQL links its libraries, and the image's user may write nothing there.
RUN node -e "import('/app/dist/src/foundation/database/postgres/binaries.js').then((made) => made.postgresBinaries())"
RUN cp -L node_modules/.bin/node /app/node

FROM debian:trixie-slim
RUN apt-get update && apt-get install -y --no-install-recommends libatomic1 libstdc++6 && rm -rf /var/lib/apt/lists/* \
  && useradd --system --uid 10001 --no-create-home --home-dir /var/lib/trunkline trunkline \
  && install -d -m 0700 -o trunkline /var/lib/trunkline /var/lib/trunkline-witness
COPY --from=build /app /app
ENV DATA_DIR=/var/lib/trunkline
USER trunkline
VOLUME /var/lib/trunkline
EXPOSE 8080
# Node takes the signals itself: no shell stands before it.
STOPSIGNAL SIGTERM
ENTRYPOINT ["/app/node", "--max-semi-space-size=8", "/app/dist/src/bin.js"]
CMD ["serve"]
# Not /readyz: who restarts what is unhealthy would end people's calls because the database is away.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s \
  CMD ["/app/node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT || 8080}/livez`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
