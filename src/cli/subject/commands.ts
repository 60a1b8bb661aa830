import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import {
  anyText,
  oneOf,
  outputFile,
  textList,
  timeUtc,
  wholeNumber,
} from '../command-line/value-kinds.ts'
import {
  flag,
  optional,
  optionalProject,
  required,
  requiredProject,
  withDefault,
} from '../options.ts'

/** The most subjects of one output. */
const limitMax = 10_000

const options = { project: requiredProject }
const subjectKind = (summary: string) => required('<subject>', anyText, summary)
const subject = subjectKind('subjectId or externalId of the subject')

export const subjectCommands = defineGroup('subject', [
  defineCommand('subject list', {
    options: {
      ...options,
      group: optional('<group>', anyText),
      text: optional('<text>', anyText),
      limit: withDefault('<n>', wholeNumber(1, limitMax), '50'),
    },
    run: async (values) => (await import('./subjects.ts')).list(values),
  }),
  defineCommand('subject show', {
    arguments: { subject },
    options,
    run: async (values) => (await import('./subjects.ts')).show(values),
  }),
  defineCommand('subject export', {
    arguments: { subject },
    options: {
      ...options,
      out: required('<file>', outputFile),
    },
    run: async (values) => (await import('./subjects.ts')).exportSubject(values),
  }),
  defineCommand('subject delete', {
    arguments: { subject },
    options,
    run: async (values) => (await import('./subjects.ts')).remove(values),
  }),
  defineCommand('subject merge', {
    arguments: { subject: subjectKind('the subject that ends') },
    options: { ...options, into: subjectKind('the subject that remains') },
    run: async (values) => (await import('./subjects.ts')).merge(values),
  }),
  defineCommand('subject merges', {
    options,
    run: async (values) => (await import('./subjects.ts')).listMerges(values),
  }),
  defineCommand('subject unmerge', {
    arguments: { mergeId: required('<merge>', anyText) },
    options,
    run: async (values) => (await import('./subjects.ts')).unmerge(values),
  }),
  defineCommand('subject distinct', {
    arguments: { subject, other: subjectKind('the other subject') },
    options: { ...options, undo: flag() },
    run: async (values) => (await import('./subjects.ts')).setDistinct(values),
  }),
])

const matchIndex = (of: string) =>
  optional('<n>', wholeNumber(0, 99), `the ${of} of the match, from 0, if the call has several`)

const decideCommand = (name: 'confirm' | 'deny') =>
  defineCommand(`feedback ${name}`, {
    arguments: {
      requestId: required('<requestId>', anyText, 'the requestId of the call of svc.identify'),
    },
    options: {
      ...options,
      'result-index': matchIndex('image'),
      'face-index': matchIndex('face'),
    },
    run: async (values) =>
      (await import('./feedback.ts')).decide(name === 'deny' ? 'denied' : 'confirmed', values),
  })

export const feedbackCommands = defineGroup('feedback', [
  defineCommand('feedback show', {
    options: {
      project: optionalProject,
      from: optional('<ISO 8601>', timeUtc),
      to: optional('<ISO 8601>', timeUtc),
    },
    run: async (values) => (await import('./feedback.ts')).showFeedback(values),
  }),
  decideCommand('confirm'),
  decideCommand('deny'),
])

const visitor = required('<visitorId>', anyText, 'id of the visitor, as in facegate visitor list')

export const visitorCommands = defineGroup('visitor', [
  defineCommand('visitor list', {
    options: {
      ...options,
      sort: withDefault('<seen|visits>', oneOf(['seen', 'visits']), 'seen'),
      ignored: withDefault('<true|false|all>', oneOf(['true', 'false', 'all']), 'false'),
      limit: withDefault('<n>', wholeNumber(1, limitMax), '50'),
    },
    run: async (values) => (await import('./visitors.ts')).list(values),
  }),
  defineCommand('visitor show', {
    arguments: { visitor },
    options,
    run: async (values) => (await import('./visitors.ts')).show(values),
  }),
  defineCommand('visitor promote', {
    arguments: { visitor },
    options: {
      ...options,
      'external-id': optional('<id>', anyText),
      name: optional('<name>', anyText),
      groups: optional('<a,b>', textList),
    },
    run: async (values) => (await import('./visitors.ts')).promote(values),
  }),
  defineCommand('visitor merge', {
    arguments: { visitor },
    options: { ...options, into: subject },
    run: async (values) => (await import('./visitors.ts')).merge(values),
  }),
  defineCommand('visitor ignore', {
    arguments: { visitor },
    options: { ...options, undo: flag() },
    run: async (values) => (await import('./visitors.ts')).ignore(values),
  }),
  defineCommand('visitor delete', {
    arguments: { visitor: optional('<visitorId>', anyText) },
    options: { ...options, all: flag(), yes: flag() },
    run: async (values) => (await import('./visitors.ts')).remove(values),
  }),
])
