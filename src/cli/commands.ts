import { accountCommands } from './account/commands.ts'
import { budget, ledger, price, wallet } from './billing/commands.ts'
import { calibrate } from './calibrate/commands.ts'
import { callLog } from './call-log/commands.ts'
import { defineCommand, defineGroup } from './command-line/define-command.ts'
import { anyText, folderPath, oneOf, outputFile } from './command-line/value-kinds.ts'
import type { CliCommand } from './command.ts'
import { contextCommands } from './context/commands.ts'
import { backup, deletions, restore } from './database/commands.ts'
import { evaluate } from './evaluate/commands.ts'
import { importFaces } from './import/commands.ts'
import { models } from './models/commands.ts'
import { optional, required, requiredProject } from './options.ts'
import { pictureCommands } from './picture/commands.ts'
import { size } from './size/commands.ts'
import { feedbackCommands, subjectCommands, visitorCommands } from './subject/commands.ts'
import { consoleLink, keyCommands, project } from './tenancy/commands.ts'
import { webhook } from './webhooks/commands.ts'

export const supportBundle = defineCommand('support-bundle', {
  options: { to: required('<file>', outputFile) },
  run: async (values) =>
    (await import('./support/write-support-bundle.ts')).writeSupportBundle(values),
})

export const gallery = defineGroup('gallery', [
  defineCommand('gallery check', {
    options: { project: requiredProject },
    run: async (values) => (await import('./gallery/check.ts')).checkProject(values),
  }),
])

export const migrate = defineCommand('migrate', {
  options: {
    to: optional('<url>', anyText),
    from: optional('<folder>', folderPath),
  },
  run: async (values) => (await import('./migrate/migrate.ts')).migrate(values),
})

/** Declares `facegate completion` for all commands. */
function completionCommand(commands: () => readonly CliCommand[]): CliCommand {
  return defineCommand('completion', {
    hasJson: false,
    arguments: { shell: required('<shell>', oneOf(['bash', 'zsh', 'fish'])) },
    run: async ({ shell }) => {
      const { completionScript } = await import('./completion/completion-script.ts')
      console.log(await completionScript(shell, commands()))
    },
  })
}

/** The commands about the installation of the environment. They change no setting. */
const installationCommands = (['status', 'doctor', 'open'] as const).map((name) =>
  defineCommand(name, {
    run: async (values) => (await import('./installation/inspect-installation.ts'))[name](values),
  }),
)

const serve = defineCommand('serve', {
  hasJson: false,
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
  visitorCommands,
  feedbackCommands,
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
