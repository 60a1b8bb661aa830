import { backup } from './database/backup.ts'
import { budget } from './billing/budget.ts'
import { calibrate } from './calibrate/calibrate.ts'
import { UsageError, type CliCommand } from './command.ts'
import { consoleLink } from './tenancy/console-link.ts'
import { deletions } from './database/deletions.ts'
import { evaluate } from './evaluate/evaluate.ts'
import { importFaces } from './import/import-faces.ts'
import { apiKey } from './tenancy/api-key.ts'
import { masterKey } from './database/master-key.ts'
import { ledger } from './billing/ledger.ts'
import { callLog } from './call-log.ts'
import { migrate } from './migrate/migrate.ts'
import { models } from './models/models.ts'
import { price } from './billing/price.ts'
import { project } from './tenancy/project.ts'
import { restore } from './database/restore.ts'
import { serve } from './serve.ts'
import { wallet } from './billing/wallet.ts'
import { webhook } from './webhooks/webhook.ts'

const commands: readonly CliCommand[] = [
  serve,
  importFaces,
  project,
  apiKey,
  webhook,
  masterKey,
  consoleLink,
  wallet,
  budget,
  price,
  callLog,
  models,
  migrate,
  ledger,
  backup,
  restore,
  deletions,
  evaluate,
  calibrate,
]

const [name, ...args] = process.argv.slice(2)
process.exitCode = await main(name, args)

async function main(name: string | undefined, args: readonly string[]): Promise<number> {
  if (name === undefined || name === '--help' || name === 'help') {
    console.log(overview())
    return name === undefined ? 2 : 0
  }
  const command = commands.find((each) => each.name === name)
  if (!command) return printError(`there is no command ${name}; see facegate --help`, 2)
  if (args.includes('--help')) {
    console.log(`${command.summary}\n\n${command.usage}`)
    return 0
  }
  try {
    await command.run(args)
    return 0
  } catch (error) {
    const isUsage = error instanceof UsageError || isParseArgsError(error)
    const hint = isUsage ? `; see facegate ${name} --help` : ''
    return printError(`${messageOf(error)}${hint}`, isUsage ? 2 : 1)
  }
}

function overview(): string {
  const width = Math.max(...commands.map((command) => command.name.length))
  const lines = commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`)
  return `facegate <command>\n\n${lines.join('\n')}\n\nRun facegate <command> --help for the options of a command.`
}

function printError(message: string, exitCode: number): number {
  console.error(`facegate: ${message}`)
  return exitCode
}

function isParseArgsError(error: unknown): boolean {
  return (
    error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS')
  )
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
