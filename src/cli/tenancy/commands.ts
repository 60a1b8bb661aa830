import { defaultKeyLifetimeDays } from '../../lib/limits/key-limits.ts'
import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import {
  anyText,
  namesFrom,
  oneOf,
  onOrOff,
  orDefault,
  name,
  originsOrNone,
  positiveMicros,
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
const keyId = required('<keyId>', anyText, 'id of the key, as in facegate key list')

export const keyCommands = defineGroup('key', [
  defineCommand('key create', {
    options: {
      project: requiredProject,
      name: withDefault('<name>', name, 'key'),
      permissions: optional('<a,b>', namesFrom(permissionNames)),
      expires: optional(
        '<duration|ISO 8601|never>',
        keyExpiry,
        `the end of validity: a duration (12h, 90d, 4w, 1y), a date, or never; without the option, after ${defaultKeyLifetimeDays} days`,
      ),
    },
    run: async (values) => (await import('./key.ts')).create(values),
  }),
  defineCommand('key list', {
    options: { project: optionalProject },
    run: async (values) => (await import('./key.ts')).list(values),
  }),
  defineCommand('key rotate', {
    arguments: { keyId },
    options: { overlap: withDefault('<0|1h|24h|7d>', oneOf(['0', '1h', '24h', '7d']), '24h') },
    run: async (values) => (await import('./key.ts')).rotate(values),
  }),
  defineCommand('key revoke', {
    arguments: { keyId },
    run: async (values) => (await import('./key.ts')).revoke(values),
  }),
  defineCommand('key routes', {
    options: {
      to: required('<name>', {
        rule: 'letters, digits, - and _',
        parse: (text) => (/^[\w-]+$/u.test(text) ? text : undefined),
      }),
      account: optional('<account>', anyText),
    },
    run: async (values) => (await import('./key.ts')).routes(values),
  }),
  ...masterKeyCommands,
])

export const consoleLink = defineGroup('console', [
  defineCommand('console link', {
    options: {
      account: optional('<id or name>', anyText),
      user: optional('<name>', anyText),
    },
    run: async (values) => (await import('./console-link.ts')).createLink(values),
  }),
])

const billing = optional(
  '<on|off>',
  onOrOff,
  'off meters calls in the request log, without a charge, and never rejects them for the budget; on without the option',
)

const galleryModes = oneOf(['isolated', 'shared'])

export const project = defineGroup('project', [
  defineCommand('project create', {
    arguments: { name: required('<name>', name) },
    options: {
      gallery: withDefault('<isolated|shared>', galleryModes, 'isolated'),
      budget: optional('<micros>', positiveMicros),
      billing,
      account: optionalAccount,
    },
    run: async (values) => (await import('./project.ts')).create(values),
  }),
  defineCommand('project list', {
    run: async (values) => (await import('./project.ts')).list(values),
  }),
  defineCommand('project show', {
    arguments: { project: requiredProject },
    run: async (values) => (await import('./project.ts')).show(values),
  }),
  defineCommand('project set', {
    arguments: { project: required('<project>', name) },
    options: {
      sustained: optional('<n>', orDefault(wholeNumber(1, 10_000))),
      burst: optional('<n>', orDefault(wholeNumber(1, 100_000))),
      gallery: optional('<isolated|shared>', galleryModes),
      'retention-days': optional('<n>', orDefault(wholeNumber(1, 36_500))),
      threshold: optional('<0..1>', orDefault(share)),
      'liveness-origins': optional('<origins|none>', originsOrNone),
      gender: optional('<on|off>', onOrOff),
      expression: optional('<on|off>', onOrOff),
      'store-crops': optional('<on|off>', onOrOff),
      'auto-enroll': optional('<on|off>', onOrOff),
      feedback: optional('<on|off>', onOrOff),
      'unknown-people': optional('<1..90|off>', orDefault(wholeNumber(1, 90), 'off')),
      'near-miss-crops': optional('<1..72|off>', orDefault(wholeNumber(1, 72), 'off')),
      'match-days': optional('<on|off>', onOrOff),
      billing,
    },
    run: async (values) => (await import('./project.ts')).set(values),
  }),
  defineCommand('project delete', {
    arguments: { project: required('<project>', name) },
    options: { yes: flag() },
    run: async (values) => (await import('./project.ts')).remove(values),
  }),
])
