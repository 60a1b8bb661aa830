import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { spawn } from 'node:child_process'
import { test } from 'node:test'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'
import {
  commandArgumentsOf,
  environmentVariablesOf,
  parseDockerfile,
} from '../../deploy/parse-dockerfile.ts'
import { readConfig, settings } from '../../src/config.ts'
import { serviceRoutes } from '../../src/http/routes/service-routes.ts'
import { withDefaults } from '../support/packaging/compose-variables.ts'
import { rootDir } from '../support/paths.ts'

const folder = path.join(rootDir, 'deploy')
const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8')

const stages = parseDockerfile(read('Dockerfile'))
const image = stages.at(-1)!
const imageEnvironment = environmentVariablesOf(image.instructions)
const instructions = (name: string) =>
  image.instructions.filter((instruction) => instruction.name === name)

const texts = z.record(z.string(), z.string())
const service = z.looseObject({
  image: z.string(),
  environment: texts.optional(),
  secrets: z.array(z.string()).default([]),
  volumes: z.array(z.string()).default([]),
  networks: z.array(z.string()).default([]),
  stop_grace_period: z.string().optional(),
  restart: z.string().optional(),
  depends_on: z.record(z.string(), z.object({ condition: z.string() })).default({}),
})
const compose = z
  .looseObject({
    services: z.record(z.string(), service),
    secrets: z.record(z.string(), z.object({ file: z.string() })),
    networks: z.record(z.string(), z.object({ internal: z.boolean() }).nullable()),
  })
  .parse(parse(withDefaults(read('compose.yaml')), { merge: true }))
const servers = Object.entries(compose.services).filter(([name]) => /^facegate-\d$/u.test(name))

const probe = z.object({
  periodSeconds: z.number(),
  httpGet: z.object({ path: z.string(), port: z.string() }),
})
const deployment = z.object({
  spec: z.object({
    strategy: z.object({ rollingUpdate: z.object({ maxUnavailable: z.number() }) }),
    template: z.object({
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        securityContext: z.object({
          runAsNonRoot: z.literal(true),
          runAsUser: z.number(),
          fsGroup: z.number(),
        }),
        containers: z.tuple([
          z.object({
            ports: z.tuple([z.object({ name: z.string(), containerPort: z.number() })]),
            envFrom: z.tuple([z.object({ configMapRef: z.object({ name: z.string() }) })]),
            startupProbe: probe,
            readinessProbe: probe,
            livenessProbe: probe,
            securityContext: z.object({
              allowPrivilegeEscalation: z.literal(false),
              readOnlyRootFilesystem: z.literal(true),
            }),
            volumeMounts: z.array(z.looseObject({ name: z.string(), mountPath: z.string() })),
          }),
        ]),
        volumes: z.array(z.looseObject({ name: z.string() })),
      }),
    }),
  }),
})
const pod = deployment.parse(parse(read('kubernetes/deployment.yaml'))).spec.template.spec
const [container] = pod.containers
const configMap = z.object({ data: texts }).parse(parse(read('kubernetes/config.yaml'))).data
const secret = z
  .object({ stringData: texts })
  .parse(parse(read('kubernetes/secret.example.yaml'))).stringData

/** The service routes that need no key. */
const keylessRoutes = serviceRoutes({
  version: 'test',
  notReady: async () => [],
  metrics: async () => '',
  limits: {
    bodyBytesMax: 1,
    imageBytesMax: 1,
    imagePixelsMax: 1,
    imageSideMinPx: 1,
    jsonDepthMax: 1,
    jsonTokensMax: 1,
    rateSustainedPerS: 1,
    rateBurst: 1,
    replayWindowMs: 1,
    subjectTemplatesMax: 1,
    galleryTemplatesMax: 1,
  },
})
const keylessPaths = new Set(keylessRoutes.map((route) => route.path))

/** Returns variables of an environment that are not settings. */
function unknownSettings(environment: Readonly<Record<string, string>>): string[] {
  return Object.keys(environment).filter((name) => name !== 'NODE_ENV' && !(name in settings))
}

test('Every variable in the files is a setting with a valid value', () => {
  assert.ok(servers.length >= 2, 'several servers')
  for (const [name, { environment = {} }] of servers) {
    assert.deepEqual(unknownSettings(environment), [], name)
    const { DATABASE_URL_FILE: _mounted, ...checked } = { ...imageEnvironment, ...environment }
    readConfig(checked)
  }
  assert.deepEqual(unknownSettings(imageEnvironment), [])
  assert.deepEqual(unknownSettings(configMap), [])
  const { DATABASE_URL_FILE: _mounted, ...checked } = { ...imageEnvironment, ...configMap }
  readConfig(checked)
  assert.deepEqual(
    unknownSettings({ MASTER_KEYFILE: '' }),
    ['MASTER_KEYFILE'],
    'a misspelled setting is reported',
  )
})

test('The image uses one Node 24 base, does not run as root and copies from existing stages', () => {
  const bases = new Set(stages.map((stage) => stage.image))
  assert.deepEqual([...bases], ['node:24-bookworm-slim'])
  const [user] = instructions('USER')
  assert.match(user?.text ?? '', /^[1-9]\d*:[1-9]\d*$/u)
  const uid = Number(user?.text.split(':')[0])
  assert.equal(pod.securityContext.runAsUser, uid)
  assert.equal(pod.securityContext.fsGroup, uid)
  const stageNames = new Set(stages.map(({ name }) => name))
  for (const { options } of instructions('COPY'))
    assert.ok(!options['from'] || stageNames.has(options['from']))
  const installs = stages
    .flatMap((stage) => stage.instructions)
    .filter(({ text }) => /npm ci/u.test(text))
  for (const { text } of installs) assert.match(text, /--ignore-scripts/u)
  assert.match(instructions('ENTRYPOINT')[0]?.text ?? '', /tini/u)
  assert.deepEqual(commandArgumentsOf(instructions('CMD')[0]), ['node', 'src/main.ts'])
})

test('Ports, volumes and probes match the service', () => {
  const port = Number(imageEnvironment['PORT'])
  assert.equal(instructions('EXPOSE')[0]?.text, String(port))
  assert.equal(container.ports[0].containerPort, port)
  assert.equal(instructions('VOLUME')[0]?.text, imageEnvironment['DATA_DIR'])
  for (const { httpGet } of [
    container.startupProbe,
    container.readinessProbe,
    container.livenessProbe,
  ]) {
    assert.ok(keylessPaths.has(httpGet.path), httpGet.path)
    assert.equal(httpGet.port, container.ports[0].name)
  }
  const caddy = read('Caddyfile')
  const health = /health_uri (\S+)/u.exec(caddy)?.[1] ?? ''
  assert.ok(keylessPaths.has(health))
  assert.equal(
    container.readinessProbe.httpGet.path,
    health,
    'the proxy and Kubernetes use the same readiness check',
  )
  const upstreams = /reverse_proxy (.+) \{/u.exec(caddy)?.[1]?.split(' ')
  assert.deepEqual(
    upstreams,
    servers.map(([name]) => `${name}:${port}`),
  )
})

test('The grace period of a server is longer than its shutdown', () => {
  const shutdownMs = (environment: Readonly<Record<string, string>>): number => {
    const { DATABASE_URL_FILE: _mounted, ...checked } = environment
    const { SHUTDOWN_DELAY_MS, DRAIN_TIMEOUT_MS } = readConfig(checked)
    assert.ok(SHUTDOWN_DELAY_MS > healthMs, 'the proxy notices the shutdown first')
    return SHUTDOWN_DELAY_MS + DRAIN_TIMEOUT_MS
  }
  const intervalS = /health_interval (\d+)s/u.exec(read('Caddyfile'))?.[1]
  const healthMs = 1000 * Math.max(Number(intervalS), container.readinessProbe.periodSeconds)
  for (const [name, { stop_grace_period: grace = '', environment = {} }] of servers)
    assert.ok(Number(/^(\d+)s$/u.exec(grace)?.[1]) * 1000 > shutdownMs(environment), name)
  assert.ok(pod.terminationGracePeriodSeconds * 1000 > shutdownMs(configMap))
  const { maxUnavailable } = deployment.parse(parse(read('kubernetes/deployment.yaml'))).spec
    .strategy.rollingUpdate
  assert.equal(maxUnavailable, 0)
})

test('Secrets are mounted at the paths of the settings', () => {
  for (const [name, { environment = {}, secrets, volumes }] of servers) {
    assert.equal(environment['DATABASE_URL_FILE'], `/run/secrets/${secrets[0]}`, name)
    const keys = volumes.find((volume) => volume.includes(':/keys'))
    assert.equal(path.posix.dirname(environment['MASTER_KEY_FILE'] ?? ''), '/keys')
    assert.match(keys ?? '', /:ro$/u, 'the servers mount the master key read-only')
  }
  for (const { secrets } of Object.values(compose.services))
    for (const name of secrets) assert.ok(name in compose.secrets, name)
  const script = read('secrets.sh')
  for (const { file } of Object.values(compose.secrets))
    assert.ok(script.includes(file.slice(2)), `secrets.sh creates ${file}`)
  const mount = container.volumeMounts.find(({ name }) => name === 'secret')
  for (const name of ['DATABASE_URL_FILE', 'MASTER_KEY_FILE']) {
    assert.equal(path.posix.dirname(configMap[name] ?? ''), mount?.mountPath)
    assert.ok(path.posix.basename(configMap[name] ?? '') in secret)
  }
  assert.equal(
    mount?.['subPath'],
    undefined,
    'a mounted single file would not be updated by a rotation',
  )
  assert.equal(compose.networks['inside']?.internal, true)
  assert.deepEqual(compose.services['database']?.networks, ['inside'])
})

test('kustomization.yaml lists every manifest, and all manifests parse', () => {
  const { resources } = z
    .object({ resources: z.array(z.string()) })
    .parse(parse(read('kubernetes/kustomization.yaml')))
  const manifests = globSync('*.yaml', { cwd: path.join(folder, 'kubernetes') })
  assert.deepEqual(
    [...resources, 'kustomization.yaml', 'secret.example.yaml'].sort(),
    manifests.sort(),
  )
  for (const file of manifests)
    for (const document of parseAllDocuments(read(`kubernetes/${file}`)))
      assert.deepEqual(document.errors, [], file)
  const names = readManifests().match(/name: facegate\b/gu) ?? []
  assert.ok(names.length > 10, 'labels and names contain facegate')
  const { maxReplicas } = z
    .object({ spec: z.object({ maxReplicas: z.number() }) })
    .parse(parse(read('kubernetes/autoscaler.yaml'))).spec
  const connections = Number(settings.DATABASE_CONNECTIONS_MAX.defaultValue)
  // PostgreSQL allows 100 connections by default and reserves three for superusers.
  assert.ok((maxReplicas + 1) * connections <= 97, 'the connections of all pods fit')

  function readManifests(): string {
    return manifests.map((file) => read(`kubernetes/${file}`)).join('\n')
  }
})

test('The health check of the image returns the result of /readyz', async () => {
  const [command = '', ...args] = commandArgumentsOf(instructions('HEALTHCHECK')[0])
  const check = (port: number) =>
    new Promise<number | null>((resolve) => {
      const child = spawn(command, args, { env: { PATH: process.env['PATH'], PORT: String(port) } })
      child.once('exit', resolve)
    })
  for (const [status, expected] of [
    [200, 0],
    [503, 1],
  ] as const) {
    const requests: string[] = []
    const server = createServer((socket) => {
      socket.once('data', (bytes) => {
        requests.push(bytes.toString().split('\r\n')[0] ?? '')
        socket.end(`HTTP/1.1 ${status} .\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`)
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    assert.equal(await check(port), expected)
    assert.deepEqual(requests, ['GET /readyz HTTP/1.1'])
    await new Promise((resolve) => server.close(resolve))
    assert.equal(await check(port), 1, 'the check fails without a server')
  }
})

test('The database address can come from a file, but only from one source', async () => {
  const dir = await mkdtemp(path.join(tmpdir(), 'facegate-secret-'))
  const file = path.join(dir, 'database-url')
  await writeFile(file, '\n')
  assert.throws(() => readConfig({ DATABASE_URL_FILE: file }), /DATABASE_URL_FILE: \S+ is empty/u)
  await writeFile(file, 'not an address\n')
  assert.throws(() => readConfig({ DATABASE_URL_FILE: file }), /DATABASE_URL:/u)
  const both = { DATABASE_URL_FILE: file, DATABASE_URL: 'postgres://x' }
  assert.throws(() => readConfig(both), /DATABASE_URL_FILE: must be empty if/u)
  const absent = { DATABASE_URL_FILE: path.join(dir, 'absent') }
  assert.throws(() => readConfig(absent), /DATABASE_URL_FILE: ENOENT/u)
  await rm(dir, { recursive: true })
})
