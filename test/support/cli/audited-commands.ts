/** The values of the commands, which exist only when the tests run. */
export type CommandInputs = Readonly<
  Record<
    | 'key'
    | 'visitor'
    | 'webhook'
    | 'merge'
    | 'pack'
    | 'builtinModel'
    | 'copy'
    | 'records'
    | 'certificate',
    string
  >
>

/** A command that changes data, its arguments, and the audit action of its entry. */
export type Write = {
  readonly auditAction: string
  readonly run: (values: CommandInputs) => string
  /** The database: the second one is restored from a copy of the first. */
  readonly in?: 'restored'
}

/** A command whose entry another file tests, because it needs more than a database. */
type WriteElsewhere = { readonly auditAction: string; readonly testedIn: string }

/** A command that changes nothing in the database. */
export type Read = { readonly reads: (values: CommandInputs) => string }

/** A command that does not use the database itself. */
type WithoutDatabase = { readonly withoutDatabase: string }

/** Every declared command. The commands run in this order. */
export const auditedCommands: Readonly<
  Record<string, Write | WriteElsewhere | Read | WithoutDatabase>
> = {
  serve: { withoutDatabase: 'the server' },
  status: { reads: () => '' },
  doctor: { reads: () => '' },
  'context set': { withoutDatabase: 'a file of the user' },
  'context show': { withoutDatabase: 'a file of the user' },
  'context clear': { withoutDatabase: 'a file of the user' },
  import: { withoutDatabase: 'its calls of the API are in the request log' },
  detect: { withoutDatabase: 'its call of the API is in the request log' },
  identify: { withoutDatabase: 'its call of the API is in the request log' },
  verify: { withoutDatabase: 'its call of the API is in the request log' },
  completion: { withoutDatabase: 'prints a script' },
  'account create': { auditAction: 'account.create', run: () => 'warehouse' },
  'account list': { reads: () => '' },
  'account move': { auditAction: 'account.move', testedIn: 'nodes/account-move.test.ts' },
  'account remove': { auditAction: 'account.remove', testedIn: 'nodes/account-move.test.ts' },
  'project create': { auditAction: 'project.create', run: () => 'kiosk' },
  'project list': { reads: () => '' },
  'project show': { reads: () => 'default' },
  'project set': {
    auditAction: 'project.update',
    run: () => 'kiosk --retention-days 30 --store-crops off',
  },
  'project delete': {
    auditAction: 'project.delete',
    testedIn: 'gate/project-deletion.test.ts',
  },
  'key create': { auditAction: 'key.create', run: () => '--project kiosk' },
  'key list': { reads: () => '' },
  'key routes': { reads: () => '--to b' },
  'key rotate': { auditAction: 'key.rotate', run: ({ key }) => key },
  'key revoke': { auditAction: 'key.revoke', run: ({ key }) => key },
  'key create-master': { withoutDatabase: 'writes a file that no server uses yet' },
  'key add-master': { auditAction: 'masterKey.add', run: () => '' },
  'key rotate-master': { auditAction: 'masterKey.rotate', run: () => '--prepared' },
  'console link': { auditAction: 'session.createSetupLink', run: () => '' },
  open: { auditAction: 'session.createSetupLink', run: () => '' },
  'wallet top-up': { auditAction: 'money.topUp', run: () => '--amount 5000' },
  'wallet show': { reads: () => '' },
  'budget allocate': { auditAction: 'money.allocate', run: () => '--project kiosk --amount 500' },
  'budget show': { reads: () => '--project kiosk' },
  'price set': { auditAction: 'money.setPrice', run: () => 'svc.detect --unit 5' },
  'price show': { reads: () => '' },
  log: { reads: () => '' },
  'ledger verify': { reads: () => '' },
  'webhook create': {
    auditAction: 'webhook.create',
    run: () => '--project kiosk --url https://webhook.invalid',
  },
  'webhook list': { reads: () => '' },
  'webhook test': { auditAction: 'webhook.test', testedIn: 'webhooks/operators.test.ts' },
  'webhook deliveries': { reads: ({ webhook }) => webhook },
  'webhook redeliver': { auditAction: 'webhook.redeliver', testedIn: 'webhooks/operators.test.ts' },
  'webhook rotate-secret': { auditAction: 'webhook.rotateSecret', run: ({ webhook }) => webhook },
  'webhook delete': { auditAction: 'webhook.delete', run: ({ webhook }) => webhook },
  'subject list': { reads: () => '--project default' },
  'subject show': { reads: () => 'audited --project default' },
  'subject export': {
    auditAction: 'subject.export',
    run: ({ copy }) => `audited --project default --out ${copy}.subject.json`,
  },
  'subject merge': {
    auditAction: 'subject.merge',
    run: () => 'audited-again --into audited --project default',
  },
  'subject merges': { reads: () => '--project default' },
  'subject unmerge': {
    auditAction: 'subject.undoMerge',
    run: ({ merge }) => `${merge} --project default`,
  },
  'subject distinct': {
    auditAction: 'subject.setDistinct',
    run: () => 'audited audited-again --project default',
  },
  'subject delete': { auditAction: 'subject.delete', run: () => 'audited --project default' },
  'visitor list': { reads: () => '--project default' },
  'visitor show': { reads: ({ visitor }) => `${visitor} --project default` },
  'visitor promote': { auditAction: 'visitor.promote', testedIn: 'cli/visitors.test.ts' },
  'visitor merge': { auditAction: 'visitor.merge', testedIn: 'cli/visitors.test.ts' },
  'visitor ignore': {
    auditAction: 'visitor.ignore',
    run: ({ visitor }) => `${visitor} --project default`,
  },
  'visitor delete': {
    auditAction: 'visitor.delete',
    run: ({ visitor }) => `${visitor} --project default`,
  },
  'feedback show': { reads: () => '' },
  'feedback confirm': { auditAction: 'match.decide', testedIn: 'cli/feedback.test.ts' },
  'feedback deny': { auditAction: 'match.decide', testedIn: 'cli/feedback.test.ts' },
  'gallery check': { reads: () => '--project kiosk' },
  'models install': { auditAction: 'models.install', run: ({ pack }) => pack },
  'models qualify': { auditAction: 'models.install', testedIn: 'models/qualify.test.ts' },
  'models list': { reads: () => '' },
  'models prepare': { withoutDatabase: 'converts the built-in models' },
  'models verify': { reads: () => '' },
  'models use': { auditAction: 'models.use', run: () => 'mine' },
  'models status': { reads: () => '' },
  'models retire': {
    auditAction: 'models.retire',
    run: ({ builtinModel }) => `${builtinModel} --confirm ${builtinModel}`,
  },
  'models remove': { auditAction: 'models.remove', run: () => 'spare' },
  calibrate: {
    auditAction: 'calibration.apply',
    testedIn: 'gallery/calibration/gallery-calibration.test.ts',
  },
  'evaluate verification': { withoutDatabase: 'reads images' },
  'evaluate detection': { withoutDatabase: 'reads images' },
  'evaluate liveness': { withoutDatabase: 'reads images' },
  'evaluate attributes': { withoutDatabase: 'reads images' },
  backup: { auditAction: 'database.backup', run: ({ copy }) => `--to ${copy}.second` },
  'deletions verify': { reads: ({ certificate }) => certificate },
  'deletions export': { reads: ({ records }) => `--to ${records}` },
  'support-bundle': { auditAction: 'system.supportBundle', run: ({ copy }) => `--to ${copy}.json` },
  restore: {
    auditAction: 'database.restore',
    in: 'restored',
    run: ({ copy }) => `--from ${copy} --deletions none`,
  },
  'deletions replay': {
    auditAction: 'deletions.replay',
    in: 'restored',
    run: ({ records }) => `--from ${records}`,
  },
  size: { withoutDatabase: 'computes figures' },
  migrate: { auditAction: 'database.migrate', testedIn: 'operations/sqlite-to-postgres.test.ts' },
}
