import { accountCommands } from './account/commands.ts'
import { budget, ledger, price, wallet } from './billing/commands.ts'
import { calibrate } from './calibrate/commands.ts'
import { callLog } from './call-log/commands.ts'
import type { CliCommand } from './command.ts'
import { contextCommands } from './context/commands.ts'
import { defineCommand } from './command-line/define-command.ts'
import { completionCommand } from './completion/commands.ts'
import { backup, deletions, restore } from './database/commands.ts'
import { gallery } from './gallery/commands.ts'
import { installationCommands } from './installation/commands.ts'
import { evaluate } from './evaluate/commands.ts'
import { importFaces } from './import/commands.ts'
import { migrate } from './migrate/commands.ts'
import { models } from './models/commands.ts'
import { pictureCommands } from './picture/commands.ts'
import { size } from './size/commands.ts'
import { subjectCommands } from './subject/commands.ts'
import { supportBundle } from './support/commands.ts'
import { consoleLink, keyCommands, project } from './tenancy/commands.ts'
import { webhook } from './webhooks/commands.ts'

const serve = defineCommand({
  name: 'serve',
  summary: 'start the service with the settings of the environment',
  hasJson: false,
  description: 'docs/configuration.md lists the settings.',
  examples: ['facegate serve', 'PORT=9000 DATA_DIR=/var/lib/facegate facegate serve'],
  run: async () => {
    await import('../main.ts')
  },
})

/** Every command of the command line, in the order of its help. */
export const commands: readonly CliCommand[] = [
  serve,
  ...installationCommands,
  contextCommands,
  importFaces,
  ...pictureCommands,
  accountCommands,
  project,
  keyCommands,
  subjectCommands,
  webhook,
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
  gallery,
  size,
  supportBundle,
  completionCommand(() => commands),
]
