import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mock } from 'node:test'
import { runCommandLine } from '../../../src/cli/run-command-line.ts'
import { cliMainFile } from '../paths.ts'

export type CliResult = {
  /** The exit code; null after a signal. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export type CliProcess = { readonly process: ChildProcess; readonly result: Promise<CliResult> }

/** Starts the command line in a child process. `environment` is added to that of the test. */
export function startCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): CliProcess {
  const child = spawn(process.execPath, [cliMainFile, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const result = once(child, 'close').then(() => ({ code: child.exitCode, out, err }))
  return { process: child, result }
}

/** The last run in this process: a run changes the environment and the output of the process. */
let lastRun: Promise<unknown> = Promise.resolve()

/** Runs the command line in a child process to its end: `serve` ends its process. */
export function runCliProcess(
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
): Promise<CliResult> {
  return startCli(args, environment).result
}

/**
 * Runs the command line in this process to its end, whatever its exit code is. A child process would
 * load every module again.
 */
export function runCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<CliResult> {
  const result = lastRun.then(() => runHere(args, environment))
  lastRun = result.catch(() => undefined)
  return result
}

async function runHere(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<CliResult> {
  const environmentBefore = { ...process.env }
  Object.assign(process.env, environment)
  let [out, err] = ['', '']
  const log = mock.method(console, 'log', (text: unknown) => (out += `${String(text)}\n`))
  const stderr = mock.method(process.stderr, 'write', (text: unknown) => {
    err += String(text)
    return true
  })
  try {
    const code = await runCommandLine(args)
    return { code, out, err }
  } finally {
    for (const method of [log, stderr]) method.mock.restore()
    for (const name of Object.keys(environment)) {
      const value = environmentBefore[name]
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

/** Returns the standard output of a command. @throws Error with `code` and `stderr` when it fails. */
export async function cliOutput(
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
): Promise<string> {
  const { code, out, err } = await runCli(args, environment)
  if (code !== 0) throw Object.assign(new Error(err), { code, stderr: err })
  return out
}
