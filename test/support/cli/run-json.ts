import { mock } from 'node:test'
import type { CliCommand } from '../../../src/cli/command.ts'
import { databaseSettings } from '../database/engine.ts'

/** Runs a command of the command line in this process, and reads the JSON that it prints. */
export async function runJson(
  dataDir: string,
  command: CliCommand,
  line: string,
  environment: Readonly<Record<string, string>> = {},
) {
  Object.assign(process.env, {
    DATA_DIR: dataDir,
    ...(await databaseSettings(dataDir, environment)),
  })
  const printed = mock.method(console, 'log', () => {})
  try {
    await command.run([...line.split(' '), '--json'])
    return JSON.parse(String(printed.mock.calls.at(-1)?.arguments[0]))
  } finally {
    printed.mock.restore()
  }
}
