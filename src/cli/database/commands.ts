import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { anyText, filePath, outputFile, wholeNumber } from '../command-line/value-kinds.ts'
import { flag, optional, required } from '../options.ts'

export const backup = defineCommand({
  name: 'backup',
  summary: 'copy the database while the server runs',
  options: { to: required('<file>', 'the new file', outputFile) },
  description: [
    'The copy is a consistent snapshot and is checked. It can be decrypted only with the current master key. Create a new backup after each rotation of the master key, and keep the key elsewhere. After a restore, later deletions must be repeated: see facegate deletions export.',
    'This command is for SQLite. For PostgreSQL, use the tools of PostgreSQL: see docs/operations/deployment.md.',
  ].join('\n'),
  run: async (values) => (await import('./database.ts')).backUp(values),
})

export const restore = defineCommand({
  name: 'restore',
  summary: 'restore a copy of the database, and repeat the deletions since then',
  options: {
    from: required('<file>', 'the copy', filePath),
    deletions: required(
      '<file|none>',
      'the file of facegate deletions export; none: no subject was deleted since the copy',
      { ...filePath, parse: (text) => (text === 'none' ? text : filePath.parse(text)) },
    ),
  },
  description: [
    'DATA_DIR must contain no database, and no facegate.db-wal, -shm or -journal file of an old one: move them away first. The subjects listed in the file of deletions are deleted again, with their original deletion records, before the copy is put in place. The copy must belong to the master key in MASTER_KEY_FILE. After any error DATA_DIR is unchanged.',
    "Violations of the ledger's invariants do not prevent a restore: each is printed on standard error with its rule and row, and the exit code is 0. See facegate ledger verify. API keys revoked after the copy are valid again: revoke them again.",
  ].join('\n'),
  run: async (values) => (await import('./database.ts')).restore(values),
})

export const deletions = defineGroup({
  name: 'deletions',
  summary: 'export, repeat and prove deletions',
  commands: [
    defineCommand({
      name: 'export',
      summary: 'append the deletion records that a file does not contain yet',
      options: {
        to: required('<file>', 'the file; keep it on another disk than the database', outputFile),
        every: optional(
          '<seconds>',
          'repeat the export at this interval, until the command receives SIGINT or SIGTERM',
          wholeNumber(1, 99_999),
        ),
      },
      run: async (values) => (await import('./database.ts')).exportTo(values),
    }),
    defineCommand({
      name: 'replay',
      summary: 'delete the subjects of a file again, in a database restored from an older copy',
      options: { from: required('<file>', 'the file of facegate deletions export', filePath) },
      description:
        'Run it before a server uses the database. The original deletion records are stored. It may be repeated.',
      run: async (values) => (await import('./database.ts')).replayFrom(values),
    }),
    defineCommand({
      name: 'verify',
      summary: 'verify a deletion certificate of the console',
      options: {
        key: optional('<key>', 'the published public key; no database is read then', anyText),
      },
      arguments: { file: required('<file>', 'the certificate', filePath) },
      description:
        'Without --key, the certificate must be signed with the key of its account in the database, which must contain the same record and no subject with this id. See docs/privacy.md.',
      run: async (values) => (await import('./verify-certificate.ts')).verifyCertificate(values),
    }),
  ],
})

/** The commands of `facegate key` for the master key. */
export const masterKeyCommands = [
  defineCommand({
    name: 'create-master',
    summary: 'write a new master key to a new file',
    options: { to: required('<file>', 'the new file', outputFile) },
    description:
      'For servers that receive the master key as a secret. A single server creates it at the first start. It encrypts the keys of the templates.',
    run: async (values) => (await import('./database.ts')).create(values),
  }),
  defineCommand({
    name: 'rotate-master',
    summary: 'replace the master key, which makes older copies of templates unreadable',
    options: {
      prepared: flag('the new key is already the first of the file: see key add-master'),
    },
    description: [
      'Encrypts the key of every subject with a new master key and destroys the old master key. After that, no older copy of the database, no backup and no part of its log can be decrypted: subjects and faces deleted before are unreadable there too. Subjects with a removed face or crop receive a new key. The command works while the server runs, and can be repeated after an interruption.',
      'For several servers with copies of the file: run key add-master, distribute the file to every server, run key rotate-master --prepared, and distribute the file again, which now contains only the new key.',
    ].join('\n'),
    run: async (values) => (await import('./database.ts')).rotate(values),
  }),
  defineCommand({
    name: 'add-master',
    summary: 'put a new master key before the old one in the file, for several servers',
    description: 'Distribute the file to every server. Then run key rotate-master --prepared.',
    run: async (values) => (await import('./database.ts')).add(values),
  }),
]
