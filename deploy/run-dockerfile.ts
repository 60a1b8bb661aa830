import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { cpSync, globSync, lstatSync, mkdirSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import {
  commandArgumentsOf,
  environmentVariablesOf,
  parseDockerfile,
  type BuildStage,
} from './parse-dockerfile.ts'

/**
 * Runs the instructions of the Dockerfile in plain folders, for machines without Docker. A file that an
 * instruction needs and does not have causes a failure here as well. The commands of the last stage
 * require root, so they are printed and not run. Then the content of the image is write-protected,
 * started and tested.
 *
 *   git archive HEAD | tar -x -C <context>; node deploy/run-dockerfile.ts <context> <empty folder>
 */
const [context, target] = process.argv.slice(2)
assert.ok(context && target, 'pass the folder of a clean checkout and an empty folder')
assert.notEqual(
  process.getuid?.(),
  0,
  'do not run this as root, because the image does not run as root',
)

const includedPaths: readonly string[] =
  readFileSync(path.join(context, '.dockerignore'), 'utf8').match(/^!.+$/gmu) ?? []
const stages = parseDockerfile(readFileSync(path.join(context, 'deploy/Dockerfile'), 'utf8'))
const finalStage = stages.at(-1)
assert.ok(finalStage)
for (const stage of stages) build(stage)
printSizes(rootOf(finalStage))
await checkServer(finalStage)

function rootOf(stage: BuildStage): string {
  return path.join(target ?? '', stage.name ?? 'image')
}

function build(stage: BuildStage): void {
  const root = rootOf(stage)
  let folder = root
  for (const { name, options, text } of stage.instructions) {
    if (name === 'WORKDIR') {
      folder = path.join(root, text)
      mkdirSync(folder, { recursive: true })
    } else if (name === 'COPY') copy(text.split(/\s+/u), folder, options['from'])
    else if (name === 'RUN' && stage === finalStage) console.log(`not run, requires root: ${text}`)
    else if (name === 'RUN') run(text, folder)
  }
}

function copy(names: readonly string[], folder: string, from: string | undefined): void {
  const origin = from === undefined ? (context ?? '') : path.join(target ?? '', from)
  const to = names.at(-1) ?? '.'
  for (const name of names.slice(0, -1)) {
    assert.ok(
      from !== undefined || includedPaths.includes(`!${name}`),
      `.dockerignore excludes ${name}`,
    )
    const destination = to.endsWith('/') ? path.join(to, path.basename(name)) : to
    cpSync(path.join(origin, name), path.join(folder, destination), {
      recursive: true,
      verbatimSymlinks: true,
    })
  }
}

function run(command: string, cwd: string): void {
  const startMs = performance.now()
  const { status } = spawnSync('sh', ['-ec', command], { cwd, stdio: 'inherit' })
  assert.equal(status, 0, `failed: ${command}`)
  console.log(`${Math.round(performance.now() - startMs)} ms  ${command}`)
}

function printSizes(root: string): void {
  const app = path.join(root, 'app')
  const parts = [...globSync('*', { cwd: app }), 'node_modules/*/', 'node_modules/@*/*/']
    .flatMap((part) => (part.includes('*') ? globSync(part, { cwd: app }) : [part]))
    .map((part) => ({ part, bytes: sizeBytesOf(path.join(app, part)) }))
    .filter(({ bytes }) => bytes > 1e6)
  for (const { part, bytes } of parts) console.log(`${(bytes / 1e6).toFixed(1)} MB  ${part}`)
  console.log(`${(sizeBytesOf(app) / 1e6).toFixed(1)} MB in addition to ${finalStage?.image}`)
}

function sizeBytesOf(file: string): number {
  if (!lstatSync(file).isDirectory()) return lstatSync(file).size
  const files = globSync('**/*', { cwd: file, withFileTypes: true })
  return files
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + lstatSync(path.join(parentPath, name)).size, 0)
}

/** Starts the command of the image on a write-protected tree and makes a first call. */
async function checkServer(stage: BuildStage): Promise<void> {
  const app = path.join(rootOf({ ...stage, name: undefined }), 'app')
  execFileSync('chmod', ['-R', 'a-w', app])
  const { MODELS_DIR = '', ...image } = environmentVariablesOf(stage.instructions)
  const env = {
    PATH: process.env['PATH'],
    ...image,
    MODELS_DIR: path.join(app, path.relative('/app', MODELS_DIR)),
    DATA_DIR: path.join(target ?? '', 'data'),
    PORT: String(await freePort()),
  }
  const [command = '', ...args] = commandArgumentsOf(
    stage.instructions.find(({ name }) => name === 'CMD'),
  )
  const startMs = performance.now()
  const server = spawn(command, args, { cwd: app, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const output = await waitUntilListening(server)
  assert.doesNotMatch(output, /converted model/u, 'the start converts no model')
  console.log(`listens after ${Math.round(performance.now() - startMs)} ms`)
  const key = /fsk_live_\S+/u.exec(output)?.[0] ?? ''
  await smokeTest(`http://127.0.0.1:${env.PORT}`, key, app)
  const [health = '', ...healthArgs] = commandArgumentsOf(
    stage.instructions.find(({ name }) => name === 'HEALTHCHECK'),
  )
  assert.equal(spawnSync(health, healthArgs, { env, stdio: 'inherit' }).status, 0, 'healthy')
  server.kill('SIGTERM')
  const [code] = await new Promise<unknown[]>((resolve) =>
    server.once('exit', (...result) => resolve(result)),
  )
  assert.equal(code, 0, 'the server exits with 0 after SIGTERM')
  assert.equal(
    spawnSync(health, healthArgs, { env }).status,
    1,
    'the health check fails after the server has ended',
  )
  console.log('The server responds, is healthy and ends after SIGTERM')
}

async function smokeTest(url: string, key: string, app: string): Promise<void> {
  const page = await fetch(url)
  assert.match(await page.text(), /<script/u, 'the console is served')
  const photograph = path.join(app, 'node_modules/@vladmandic/face-api/demo/sample1.jpg')
  const image = {
    kind: 'image',
    contentType: 'image/jpeg',
    bytes: readFileSync(photograph, 'base64'),
  }
  const response = await fetch(`${url}/v1/face/execute`, {
    method: 'POST',
    headers: { 'x-api-key': key, 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'svc.detect', params: { images: [image] } }),
  })
  const text = await response.text()
  assert.match(text, /"faceCount":3/u)
  console.log('svc.detect returns three faces')
}

async function waitUntilListening(server: ChildProcess): Promise<string> {
  let output = ''
  for await (const chunk of server.stdout?.setEncoding('utf8') ?? []) {
    output += String(chunk)
    if (output.includes('/docs')) return output
  }
  throw new Error(`the server did not start: ${output}`)
}

function freePort(): Promise<number> {
  const probe = createServer()
  return new Promise((resolve) =>
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    }),
  )
}
