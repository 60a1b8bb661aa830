import assert from 'node:assert/strict'
import { mock } from 'node:test'
import type { CliCommand } from '../../../src/cli/command.ts'
import { databaseSettings } from '../database/engine.ts'

/** Runs a command in this process and returns the lines that it prints, without standard error. */
export async function runLines(
  dataDir: string,
  command: CliCommand,
  line: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<string[]> {
  Object.assign(process.env, {
    DATA_DIR: dataDir,
    ...(await databaseSettings(dataDir, environment)),
  })
  const log = mock.method(console, 'log', () => {})
  const stderr = mock.method(process.stderr, 'write', () => true)
  try {
    await command.run(line.split(' ').filter(Boolean))
    return log.mock.calls.map((call) => String(call.arguments[0]))
  } finally {
    for (const method of [log, stderr]) method.mock.restore()
  }
}

/** Runs a command in this process and returns the JSON value that it prints last. */
export async function runJson(
  dataDir: string,
  command: CliCommand,
  line: string,
  environment: Readonly<Record<string, string>> = {},
) {
  return JSON.parse((await runLines(dataDir, command, `${line} --json`, environment)).at(-1) ?? '')
}

/**
 * Returns functions that run whole command lines, beginning with the name of one of the commands, in
 * this process: one returns the printed lines, the other adds `--json` and returns the first value.
 */
export function createLineRunner(commands: readonly CliCommand[], dataDir: () => string) {
  const runForLines = (line: string): Promise<string[]> => {
    const [name, ...args] = line.split(' ')
    const command = commands.find((each) => each.name === name)
    assert.ok(command, line)
    return runLines(dataDir(), command, args.join(' '))
  }
  const runForJson = async (line: string) => {
    const [printed = ''] = await runForLines(`${line} --json`)
    return JSON.parse(printed)
  }
  return { runForLines, runForJson }
}
