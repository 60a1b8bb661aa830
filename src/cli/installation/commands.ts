import { defineCommand } from '../command-line/define-command.ts'

/** The commands about the installation of the environment. They change no setting. */
export const installationCommands = [
  defineCommand({
    name: 'status',
    summary: 'show the service, database, models, disk, last backup and problems on one page',
    description:
      'The settings are those of the environment of this command: pass the same to it and to the service.',
    examples: ['facegate status', 'facegate status --json'],
    run: async (values) => (await import('./inspect-installation.ts')).status(values),
  }),
  defineCommand({
    name: 'doctor',
    summary: 'find what is wrong with this installation, each problem with its remedy',
    description:
      'Checks the service, PUBLIC_URL, database, master key, folders, backups, disk, models, budgets, keys and webhooks. The exit code is 1 if anything must be repaired; warnings alone end with 0. It repairs nothing.',
    examples: ['facegate doctor', 'facegate doctor --json'],
    run: async (values) => (await import('./inspect-installation.ts')).doctor(values),
  }),
  defineCommand({
    name: 'open',
    summary: 'print the address of the console, and open it in a browser',
    description:
      'PUBLIC_URL or HOST and PORT are the address. While the console has no user, the command prints a link that sets the password of an owner, as facegate console link does. A browser starts only from a terminal, and not for such a link.',
    examples: ['facegate open'],
    run: async (values) => (await import('./inspect-installation.ts')).open(values),
  }),
]
