import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'yaml'
import { z } from 'zod'
import {
  clusterSkipReason,
  runSql,
  startPostgresCluster,
  urlWithDatabase,
  type PostgresCluster,
} from '../database/postgres-server.ts'
import { unlimitedRates } from '../facegate/test-client.ts'
import { freePort } from '../network/free-port.ts'
import { rootDir } from '../paths.ts'
import { withDefaults } from './compose-variables.ts'
import {
  runInContainer,
  startContainer,
  writeHostsFile,
  type ContainerOptions,
} from './container.ts'
import type { BuiltImage } from './image.ts'
import { missingToolsReason, runTool, type ToolOutput } from './tools.ts'
import { waitForWelcome } from './welcome.ts'

/** The reason why the services cannot be started; undefined: they can. */
export const composeSkipReason: string | undefined =
  clusterSkipReason ?? missingToolsReason(['caddy', 'psql'])

export type RunningCompose = AsyncDisposable & {
  /** The key that the first server printed. */
  readonly key: string
  readonly proxyUrl: string
  readonly servers: readonly { readonly url: string; readonly process: ChildProcess }[]
  /** Runs a command as the service `admin`. */
  readonly runAdmin: (command: readonly string[]) => Promise<ToolOutput>
}

const composeFile = z.object({
  services: z.record(
    z.string(),
    z.object({
      environment: z.record(z.string(), z.string()).optional(),
      secrets: z.array(z.string()).default([]),
      volumes: z.array(z.string()).default([]),
    }),
  ),
  secrets: z.record(z.string(), z.object({ file: z.string() })),
})

type Compose = z.infer<typeof composeFile>

/** There are no container networks here: each service has an address of the loopback network. */
const addresses = {
  database: '127.0.0.1',
  'facegate-1': '127.0.91.1',
  'facegate-2': '127.0.91.2',
}
const adminAddress = '127.0.91.3:2019'
const serverPort = 8080
const readyMsMax = 120_000

/**
 * Starts the services of compose.yaml as processes: the servers from the image, with the environment,
 * secrets and mounts of the file, the proxy with the shipped configuration, and PostgreSQL of this
 * machine, prepared with the shipped script. Its port differs, and it accepts any password.
 */
export async function startCompose(
  image: BuiltImage,
  options: {
    readonly folder: string
    readonly createDataFolder: (name: string) => Promise<string>
  },
): Promise<RunningCompose> {
  const deploy = path.join(options.folder, 'deploy')
  await cp(path.join(rootDir, 'deploy'), deploy, { recursive: true })
  await runTool('sh', [path.join(deploy, 'secrets.sh')])
  const text = await readFile(path.join(deploy, 'compose.yaml'), 'utf8')
  const compose = composeFile.parse(parse(withDefaults(text), { merge: true }))
  await using started = new AsyncDisposableStack()
  const cluster = started.use(await startPostgresCluster())
  await prepareDatabase(cluster, deploy)
  const containerOptions = async (name: keyof typeof addresses | 'admin', data: string) => {
    const HOST = name === 'admin' ? '127.0.0.1' : addresses[name]
    const service = serviceOptions(compose, name, deploy)
    // A test can send calls as fast as the machine answers them.
    const changes = { ...unlimitedRates, HOST, VISION_WORKERS: '1' }
    const environment = { ...service.environment, ...changes }
    return { ...service, environment, dataFolder: await options.createDataFolder(data) }
  }
  const start = async (name: 'facegate-1' | 'facegate-2') => {
    const server = startContainer(image, await containerOptions(name, name))
    started.defer(() => endProcess(server))
    return { url: `http://${addresses[name]}:${serverPort}`, process: server }
  }
  const first = await start('facegate-1')
  const { key } = await waitForWelcome(first.process)
  const second = await start('facegate-2')
  second.process.stdout?.resume()
  await waitUntilReady(second.url)
  const proxyPort = await freePort()
  const proxy = startProxy(deploy, proxyPort)
  started.defer(() => endProcess(proxy))
  const proxyUrl = `http://127.0.0.1:${proxyPort}`
  await waitForResponse(proxyUrl)
  const adminOptions = await containerOptions('admin', 'admin')
  const resources = started.move()
  return {
    key,
    proxyUrl,
    servers: [first, second],
    runAdmin: (command) => runInContainer(image, adminOptions, command),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  }
}

/** Runs the script of the database service with its secret mounted, on an empty cluster. */
async function prepareDatabase({ adminUrl }: PostgresCluster, deploy: string): Promise<void> {
  const template = urlWithDatabase(adminUrl, 'template1')
  await runSql(template, 'drop extension vector; drop role facegate')
  const { hostname, port, username } = new URL(adminUrl)
  const secret = path.join(deploy, 'secrets/database-password')
  const script = `mount -t tmpfs tmpfs /run
    mkdir /run/secrets
    cp "$1" /run/secrets/database_password
    exec sh "$2"`
  const facegate = path.join(deploy, 'postgres/facegate.sh')
  await runTool('unshare', ['--mount', 'sh', '-euc', script, 'sh', secret, facegate], {
    env: { ...process.env, PGHOST: hostname, PGPORT: port, POSTGRES_USER: username },
  })
  const urlFile = path.join(deploy, 'secrets/database-url')
  const url = (await readFile(urlFile, 'utf8')).replace(':5432/', `:${port}/`)
  await writeFile(urlFile, url)
}

/** Returns the environment and the mounts of a service. */
function serviceOptions(
  compose: Compose,
  name: string,
  deploy: string,
): Omit<ContainerOptions, 'dataFolder'> {
  const service = compose.services[name]
  if (!service) throw new Error(`compose.yaml has no service ${name}`)
  const secrets = service.secrets.map((secret) => {
    const file = compose.secrets[secret]?.file ?? ''
    return [`/run/secrets/${secret}`, path.join(deploy, file)]
  })
  const volumes = service.volumes.map((volume) => {
    const [source = '', target = ''] = volume.split(':')
    return [target, path.join(deploy, source)]
  })
  const mounts = Object.fromEntries([...secrets, ...volumes]) as Record<string, string>
  return { environment: service.environment ?? {}, mounts, hosts: addresses }
}

/** Starts the proxy with the shipped configuration and the host names of the services. */
function startProxy(deploy: string, port: number): ChildProcess {
  const hosts = path.join(deploy, 'hosts')
  writeHostsFile(hosts, addresses)
  const script = 'mount --bind "$1" /etc/hosts; exec caddy run --adapter caddyfile --config "$2"'
  const options = ['--mount', '--propagation', 'private', 'sh', '-euc', script, 'sh']
  return spawn('unshare', [...options, hosts, path.join(deploy, 'Caddyfile')], {
    env: {
      ...process.env,
      SITE_ADDRESS: `:${port}`,
      CADDY_ADMIN: adminAddress,
      XDG_DATA_HOME: path.join(deploy, 'caddy'),
      XDG_CONFIG_HOME: path.join(deploy, 'caddy'),
    },
    stdio: 'ignore',
  })
}

async function waitUntilReady(url: string): Promise<void> {
  for (const toMs = performance.now() + readyMsMax; performance.now() < toMs; await sleep(100)) {
    const isReady = await fetch(`${url}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isReady) return
  }
  throw new Error(`${url} is not ready`)
}

/** Waits until the proxy has checked both servers: the path of a call then reaches a server. */
async function waitForResponse(url: string): Promise<void> {
  for (const toMs = performance.now() + readyMsMax; performance.now() < toMs; await sleep(100)) {
    const status = await fetch(`${url}/docs`).then(
      (response) => response.status,
      () => 0,
    )
    if (status === 200) return
  }
  throw new Error(`${url} does not respond`)
}

export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  // The init process of the image forwards it; SIGKILL would end only the init process.
  child.kill('SIGTERM')
  await exited
}
