import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { availableParallelism, cpus, tmpdir } from 'node:os'
import path from 'node:path'
import { markdownTable, showProgress } from '../support/table.ts'

const root = path.join(import.meta.dirname, '../..')

/** One command of a page for new users. */
type FirstHourStep = {
  readonly title: string
  readonly command: string
  /** The command has worked if it prints this. */
  readonly prints: RegExp
}

/** The commands of the README, docs/samples/README.md, examples/README.md and its page of the door. */
const stepsAfterStart = (firstCall: string): readonly FirstHourStep[] => [
  { title: 'the printed call', command: firstCall, prints: /"faceCount":\d/u },
  {
    title: 'download sample pictures',
    command: `
      for name in mia door; do curl -sSfO "$FACEGATE_URL/docs/samples/$name.jpg"; done
      ls`,
    prints: /^mia\.jpg$/mu,
  },
  {
    title: 'project, budget and keys; enroll a person',
    command: `
      npx facegate project create lobby
      npx facegate wallet top-up --amount 1000000
      npx facegate budget allocate --project lobby --amount 1000000
      desk=$(npx facegate key create --project lobby --name desk --permissions svc.enroll | head -n 1)
      door=$(npx facegate key create --project lobby --name door --permissions svc.identify | head -n 1)
      echo "$door" > door.key
      . docs/face.sh
      KEY=$desk face svc.enroll mia.jpg '"externalId":"badge-1042","groups":["staff"]'`,
    prints: /"created": true/u,
  },
  {
    title: 'install the client for the examples',
    command: `
      npm pack ./client
      npm install --prefix examples --no-save ./facegate-client-0.1.0.tgz`,
    prints: /added 1 package/u,
  },
  {
    title: 'the door example names the person',
    command: `
      mkdir camera
      cp door.jpg camera/front-1.jpg
      FACEGATE_KEY=$(cat door.key) node examples/door/door.mjs camera`,
    prints: /^front-1\.jpg open badge-1042 /mu,
  },
]

/**
 * `npm run bench first-hour`: the time from the clone to the first call, to the first enrolled person
 * and to the first event that names a person, with the commands of the pages. It clones the last
 * commit of this checkout, and uses the Node and npm of the machine. The time to read and type is not
 * included. npm reads its packages from the registry or from its cache.
 */
export async function run(): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'facegate-first-hour-'))
  const port = String(await freePort())
  const shell = createShell(path.join(folder, 'clone'), {
    PORT: port,
    FACEGATE_URL: `http://127.0.0.1:${port}`,
  })
  const rows: string[][] = []
  let totalMs = 0
  const measure = async <Result>(title: string, work: () => Promise<Result>): Promise<Result> => {
    showProgress(title)
    const startMs = performance.now()
    const result = await work()
    const ms = performance.now() - startMs
    totalMs += ms
    rows.push([title, (ms / 1000).toFixed(1), (totalMs / 1000).toFixed(1)])
    return result
  }
  let server: ChildProcess | undefined
  try {
    await measure('git clone', () =>
      shell.run(`git clone --quiet '${root}' clone`, { cwd: folder }),
    )
    await measure('npm ci', () => shell.run('npm ci'))
    const started = await measure('npm start', shell.start)
    server = started.process
    for (const { title, command, prints } of stepsAfterStart(started.firstCall))
      await measure(title, async () => {
        const output = await shell.run(command)
        if (!prints.test(output)) throw new Error(`${title} printed:\n${output}`)
      })
  } finally {
    if (server) await endProcess(server)
    await rm(folder, { recursive: true, force: true })
  }
  console.log(`\n${availableParallelism()} cores (${cpus()[0]?.model}), ${await shell.versions()}`)
  console.log(markdownTable(['step', 's', 'since the clone, s'], rows))
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

/** Runs commands in a folder, in the environment of a user of the machine. */
function createShell(folder: string, settings: Readonly<Record<string, string>>) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:npm_|NODE_|INIT_)/u.test(name))
  const folders = (process.env['PATH'] ?? '').split(path.delimiter)
  const PATH = folders.filter((each) => !each.includes('node_modules')).join(path.delimiter)
  const { npm_config_registry: registry } = process.env
  const env = {
    ...Object.fromEntries(kept),
    ...(registry !== undefined && { npm_config_registry: registry }),
    ...settings,
    PATH,
  }

  async function run(command: string, { cwd = folder } = {}): Promise<string> {
    const child = spawn('bash', ['-euc', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    if (code !== 0) throw new Error(`${command} ended with ${code}:\n${output}`)
    return output
  }

  /** Starts the service, and returns the call that its first start prints. */
  async function start(): Promise<{ process: ChildProcess; firstCall: string }> {
    const child = spawn('npm', ['start'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
      // npm does not forward signals to the service: the whole group is ended.
      detached: true,
    })
    let output = ''
    for await (const chunk of child.stdout.iterator({ destroyOnReturn: false })) {
      output += String(chunk)
      const firstCall = /^ {2}printf [\s\S]*?--data-binary @-$/mu.exec(output)?.[0]
      if (firstCall !== undefined) return { process: child, firstCall }
    }
    throw new Error(`the service did not start: ${output}`)
  }

  const versions = async () =>
    `Node ${(await run('node --version', { cwd: root })).trim()}, npm ${(await run('npm --version', { cwd: root })).trim()}`
  return { run, start, versions }
}

async function endProcess(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit')
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  await exited
}
