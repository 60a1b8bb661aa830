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
import { subjectCommands } from './subject/commands.ts'
import { consoleLink, keyCommands, project } from './tenancy/commands.ts'
import { webhook } from './webhooks/commands.ts'

export const supportBundle = defineCommand({
  name: 'support-bundle',
  summary: 'write versions, settings, health and history to a file, without secrets',
  options: { to: required('<file>', 'the new file, JSON', outputFile) },
  description:
    'The file contains no key, no password, no name of a person and no data of a subject; docs/operations/console.md lists its content. The settings are those of the environment of this command, and the health of each server is its last report, at most a minute old.',
  run: async (values) =>
    (await import('./support/write-support-bundle.ts')).writeSupportBundle(values),
})

export const gallery = defineGroup({
  name: 'gallery',
  summary: 'check the pictures of a gallery',
  commands: [
    defineCommand({
      name: 'check',
      summary: 'find wrong, harmful and missing pictures, look-alikes and duplicates',
      options: { project: requiredProject },
      description:
        'The command compares each picture with the other pictures of its subject and with all other subjects. It changes nothing and works while the server runs.',
      run: async (values) => (await import('./gallery/check.ts')).checkProject(values),
    }),
  ],
})

export const migrate = defineCommand({
  name: 'migrate',
  summary: 'move all data from SQLite to an empty PostgreSQL database',
  options: {
    to: optional(
      '<url>',
      'postgres://role:password@host:5432/database; without it, DATABASE_URL or the content of DATABASE_URL_FILE, so that the password does not appear in the process list',
      anyText,
    ),
    from: optional('<folder>', 'the data folder; without it, DATA_DIR', folderPath),
  },
  description: [
    'Stop the server first. Run an interrupted migration again: it continues. At the end, every row of both databases is compared. Until then no server starts on either database.',
    "Violations of the ledger's invariants do not prevent the migration: each is printed on standard error with its rule and row, and the exit code is 0. See facegate ledger verify. The master key and the models stay where they are. See docs/operations/sqlite-to-postgresql.md.",
  ].join('\n'),
  run: async (values) => (await import('./migrate/migrate.ts')).migrate(values),
})

/** Declares `facegate completion` for all commands. */
function completionCommand(commands: () => readonly CliCommand[]): CliCommand {
  return defineCommand({
    name: 'completion',
    summary: 'print a script that completes commands, options and values in a shell',
    hasJson: false,
    arguments: {
      shell: required('<shell>', 'the shell', oneOf(['bash', 'zsh', 'fish'])),
    },
    description: [
      'bash: add the line `source <(facegate completion bash)` to ~/.bashrc.',
      'zsh: add the line `source <(facegate completion zsh)` to ~/.zshrc, after compinit.',
      'fish: run `facegate completion fish > ~/.config/fish/completions/facegate.fish`.',
    ].join('\n'),
    run: async ({ shell }) => {
      const { completionScript } = await import('./completion/completion-script.ts')
      console.log(await completionScript(shell, commands()))
    },
  })
}

/** The commands about the installation of the environment. They change no setting. */
const installationCommands = [
  defineCommand({
    name: 'status',
    summary: 'show the service, database, models, disk, last backup and problems on one page',
    description:
      'The settings are those of the environment of this command: pass the same to it and to the service.',
    run: async (values) => (await import('./installation/inspect-installation.ts')).status(values),
  }),
  defineCommand({
    name: 'doctor',
    summary: 'find what is wrong with this installation, each problem with its remedy',
    description:
      'Checks the service, PUBLIC_URL, database, master key, folders, backups, disk, models, budgets, keys and webhooks. The exit code is 1 if anything must be repaired; warnings alone end with 0. It repairs nothing.',
    run: async (values) => (await import('./installation/inspect-installation.ts')).doctor(values),
  }),
  defineCommand({
    name: 'open',
    summary: 'print the address of the console, and open it in a browser',
    description:
      'PUBLIC_URL or HOST and PORT are the address. While the console has no user, the command prints a link that sets the password of an owner, as facegate console link does. A browser starts only from a terminal, and not for such a link.',
    run: async (values) => (await import('./installation/inspect-installation.ts')).open(values),
  }),
]

const serve = defineCommand({
  name: 'serve',
  summary: 'start the service with the settings of the environment',
  hasJson: false,
  description: 'docs/configuration.md lists the settings.',
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
