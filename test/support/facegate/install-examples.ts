import assert from 'node:assert/strict'
import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'
import { rootDir } from '../paths.ts'

/** Copies the examples to `folder` and installs the client beside them, as their README describes. */
export async function installExamples(folder: string): Promise<void> {
  await cp(path.join(rootDir, 'examples'), folder, {
    recursive: true,
    filter: (source) => !source.endsWith('node_modules'),
  })
  const installed = path.join(folder, 'node_modules', 'facegate-client')
  await mkdir(installed, { recursive: true })
  const client = path.join(rootDir, 'client')
  const tsc = path.join(rootDir, 'node_modules', '.bin', 'tsc')
  await promisify(execFile)(tsc, ['-p', client, '--outDir', path.join(installed, 'dist', 'esm')])
  await cp(path.join(client, 'package.json'), path.join(installed, 'package.json'))
}

export type ExampleServer = { readonly process: ChildProcess; readonly url: string }

/** Starts `server.mjs` of an example in `folder`. */
export async function startExampleServer(
  folder: string,
  { url, key }: { readonly url: string; readonly key: string },
): Promise<ExampleServer> {
  const child = spawn(process.execPath, ['server.mjs'], {
    cwd: folder,
    env: { ...process.env, FACEGATE_URL: url, FACEGATE_KEY: key, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const exited = once(child, 'exit').then(([code]) => assert.fail(`the example ended with ${code}`))
  const [line] = (await Promise.race([once(child.stdout, 'data'), exited])) as [Buffer]
  const address = /http:\S+/u.exec(String(line))?.[0]
  assert.ok(address, 'the example prints its address')
  return { process: child, url: address }
}
