import { keyCommands } from '../../../src/cli/tenancy/commands.ts'
import { runJson } from './run-json.ts'

/** Runs a command `key …` with another copy of the key file than that of the server. */
export async function runWithKeyFile(dataDir: string, copy: string, line: string) {
  process.env['MASTER_KEY_FILE'] = copy
  try {
    return await runJson(dataDir, keyCommands, line)
  } finally {
    delete process.env['MASTER_KEY_FILE']
  }
}
