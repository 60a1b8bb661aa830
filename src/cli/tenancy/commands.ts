import { defaultKeyLifetimeDays } from '../../lib/limits/key-limits.ts'
import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import {
  anyText,
  namesFrom,
  oneOf,
  onOrOff,
  orDefault,
  originsOrNone,
  keyName,
  microsFrom,
  projectName,
  share,
  wholeNumber,
} from '../command-line/value-kinds.ts'
import {
  flag,
  optionalAccount,
  optional,
  required,
  withDefault,
  optionalProject,
  requiredProject,
} from '../options.ts'
import { masterKeyCommands } from '../database/commands.ts'
import { keyExpiry } from './expiry-option.ts'

const permissionNames = async (): Promise<readonly string[]> =>
  (await import('../../http/permissions.ts')).allPermissions.map(({ permission }) => permission)

/** The argument of the commands for one key. */
const keyId = required('<keyId>', 'id of the key, as in facegate key list', anyText)

export const keyCommands = defineGroup({
  name: 'key',
  summary: 'create, list, rotate and revoke API keys; create and rotate the master key',
  description:
    'An API key authenticates the calls of an application for one project. The master key encrypts the stored templates.',
  commands: [
    defineCommand({
      name: 'create',
      summary: 'create an API key; it is shown only once',
      options: {
        project: requiredProject,
        name: withDefault('<name>', 'name of the key in lists', {
          ...keyName,
          default: 'key',
        }),
        permissions: optional(
          '<a,b>',
          'actions and other permissions, separated by commas; without the option, all (*); docs/reference/permissions.md lists them',
          namesFrom(permissionNames),
        ),
        expires: optional(
          '<duration|ISO 8601|never>',
          `the end of validity: a duration (12h, 90d, 4w, 1y), a date, or never; without the option, after ${defaultKeyLifetimeDays} days`,
          keyExpiry,
        ),
      },
      run: async (values) => (await import('./key.ts')).create(values),
    }),
    defineCommand({
      name: 'list',
      summary: 'list API keys, without their secret part',
      options: { project: optionalProject },
      run: async (values) => (await import('./key.ts')).list(values),
    }),
    defineCommand({
      name: 'rotate',
      summary: 'give an API key a new secret; it is shown only once',
      arguments: { keyId },
      options: {
        overlap: withDefault('<0|1h|24h|7d>', 'how long the former secret stays valid', {
          ...oneOf(['0', '1h', '24h', '7d']),
          default: '24h',
        }),
      },
      description:
        'The key keeps its id, name, permissions, expiry, limits and history. Until the end of the overlap, calls with the former and with the new secret are accepted. A secret before the former one ends at once. Use --overlap 0 for a secret that has leaked.',
      run: async (values) => (await import('./key.ts')).rotate(values),
    }),
    defineCommand({
      name: 'revoke',
      summary: 'revoke an API key; it is rejected from the next call on',
      arguments: { keyId },
      run: async (values) => (await import('./key.ts')).revoke(values),
    }),
    defineCommand({
      name: 'routes',
      summary: 'print the map by which a proxy routes the keys of this database',
      options: {
        to: required('<name>', 'the installation of this database, as the proxy names it', {
          rule: 'letters, digits, - and _',
          parse: (text) => (/^[\w-]+$/u.test(text) ? text : undefined),
        }),
        account: optional('<account>', 'only the keys of this account, by its id or name', anyText),
      },
      description:
        'Each line contains the SHA-256 of a key and the name. Keys cannot be derived from it. Accounts that are being moved, or were moved, are left out. See docs/operations/several-databases.md.',
      run: async (values) => (await import('./key.ts')).routes(values),
    }),
    ...masterKeyCommands,
  ],
})

export const consoleLink = defineGroup({
  name: 'console',
  summary: 'create a one-time link that sets the password of an owner of the console',
  commands: [
    defineCommand({
      name: 'link',
      summary: 'create a link for a new owner, or for a lost password',
      options: {
        account: optional(
          '<id or name>',
          'the account of the new owner, with --user; without it, the oldest account',
          anyText,
        ),
        user: optional('<name>', 'the name of the new owner, with --account', anyText),
      },
      description:
        'The link works once and expires in one day. It creates a new owner, or replaces your password if you have lost it. An earlier unused link becomes invalid. With --account and --user it sets the password of a new owner of that account.',
      run: async (values) => (await import('./console-link.ts')).createLink(values),
    }),
  ],
})

const billing = optional(
  '<on|off>',
  'off meters calls in the request log, without a charge, and never rejects them for the budget; on without the option',
  onOrOff,
)

const galleryModes = oneOf(['isolated', 'shared'])

export const project = defineGroup({
  name: 'project',
  summary: 'create, list, configure and delete projects',
  description:
    'A project has a separate budget, rate limit, API keys and gallery. Projects of one account with --gallery shared use one common gallery.',
  commands: [
    defineCommand({
      name: 'create',
      summary: 'create a project; without --budget, its budget is empty',
      arguments: { name: required('<name>', 'name of the new project', projectName) },
      options: {
        gallery: withDefault(
          '<isolated|shared>',
          'a gallery of the project alone, or the common gallery of the account',
          { ...galleryModes, default: 'isolated' },
        ),
        budget: optional(
          '<micros>',
          'move this amount from the wallet of the account to the budget',
          microsFrom(1),
        ),
        billing,
        account: optionalAccount,
      },
      description: 'If the wallet does not contain the amount of --budget, no project is created.',
      run: async (values) => (await import('./project.ts')).create(values),
    }),
    defineCommand({
      name: 'list',
      summary: 'list all projects',
      run: async (values) => (await import('./project.ts')).list(values),
    }),
    defineCommand({
      name: 'show',
      summary: 'show all settings of a project, with the names of the options of project set',
      arguments: { project: requiredProject },
      run: async (values) => (await import('./project.ts')).show(values),
    }),
    defineCommand({
      name: 'set',
      summary: 'change the limits and the switches of a project',
      arguments: { project: required('<project>', 'id or name of the project', projectName) },
      options: {
        sustained: optional('<n>', 'average calls per second', orDefault(wholeNumber(1, 10_000))),
        burst: optional('<n>', 'calls allowed in a burst', orDefault(wholeNumber(1, 100_000))),
        gallery: optional(
          '<isolated|shared>',
          'a gallery of the project alone, or the common gallery of the account',
          galleryModes,
        ),
        'retention-days': optional(
          '<n>',
          'days without a match after which a subject is deleted',
          orDefault(wholeNumber(1, 36_500)),
        ),
        threshold: optional(
          '<0..1>',
          'minimum similarity of a match in svc.identify; the default rises with the size of the gallery',
          orDefault(share),
        ),
        'liveness-origins': optional(
          '<origins|none>',
          'origins of web pages that may send frames of liveness sessions, separated by commas',
          originsOrNone,
        ),
        gender: optional(
          '<on|off>',
          'whether svc.attributes and svc.analyze return the gender; docs/privacy.md explains when to turn it off',
          onOrOff,
        ),
        expression: optional(
          '<on|off>',
          'whether svc.attributes and svc.analyze return the expression',
          onOrOff,
        ),
        'store-crops': optional(
          '<on|off>',
          'store an encrypted crop of each face enrolled from now on, so that a later model can create templates from it; off deletes the stored crops',
          onOrOff,
        ),
        'auto-enroll': optional(
          '<on|off>',
          'svc.verify may add a face to a subject that has only templates of a former model',
          onOrOff,
        ),
        feedback: optional(
          '<on|off>',
          'matches of svc.identify can be confirmed or denied; stores an encrypted template of each matched face for the replay window, and of each denied one as long as its subject',
          onOrOff,
        ),
        billing,
      },
      run: async (values) => (await import('./project.ts')).set(values),
    }),
    defineCommand({
      name: 'delete',
      summary: 'delete a project with its keys, webhooks and own gallery; this cannot be undone',
      arguments: { project: required('<project>', 'id or name of the project', projectName) },
      options: {
        yes: flag('confirm the deletion; without it, the command states what it would delete'),
      },
      description:
        'The command revokes the keys, waits until the running calls have ended, deletes the subjects of the gallery that only this project uses, and returns the budget to the wallet. Subjects of the shared gallery stay. Repeat an interrupted deletion. See docs/privacy.md.',
      run: async (values) => (await import('./project.ts')).remove(values),
    }),
  ],
})
