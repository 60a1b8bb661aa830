import type { Action } from '../actions/action.ts'
import { allActions } from '../actions/all.ts'
import { paramsOf } from '../actions/params-of.ts'

type Json = { readonly [key: string]: unknown }

const requestId = '7f8f4c0e-3a52-4f0b-9a70-0c6c8c2f9f61'

/** A picture that is cut to its first bytes. */
const image = { kind: 'image', contentType: 'image/jpeg', bytes: '/9j/4AAQSkZJRg==' }

/** `components.examples`: a request and an answer of every action, and the ways to fail. */
export function openExamples(): Json {
  return Object.fromEntries([
    ...allActions.flatMap((action) => [
      [`${action.name}.request`, requestOf(action)],
      [`${action.name}.answer`, answerOf(action)],
    ]),
    ['failure', failure],
    ['rateLimited', rateLimited],
  ])
}

/** The examples of a request, or of an answer, by reference. */
export function examplesOf(kind: 'request' | 'answer'): Json {
  const names = allActions.map(({ name }) => [name, `${name}.${kind}`] as const)
  const failures = [
    ['failure', 'failure'],
    ['rateLimited', 'rateLimited'],
  ] as const
  return Object.fromEntries(
    [...names, ...(kind === 'answer' ? failures : [])].map(([name, place]) => [
      name,
      { $ref: `#/components/examples/${place}` },
    ]),
  )
}

function requestOf(action: Action): Json {
  const { name, summary, example } = action
  const images = paramsOf(action).required.includes('images') ? { images: [image] } : {}
  const value = { action: name, requestId, params: { ...images, ...example.params } }
  return { summary, value }
}

function answerOf({ name, summary, example }: Action): Json {
  const result = { index: 0, correlationId: 'auto-0', ok: true, value: example.value }
  const value = { ok: true, requestId, action: name, data: { results: [result] }, errors: [] }
  return { summary, value }
}

const failed = { ok: false, requestId, action: 'svc.detect', data: null }

const failure = {
  summary: 'The picture cannot be read.',
  value: {
    ...failed,
    errors: [{ code: 'IMAGE_DECODE_FAILED', message: 'params.images[0]: the image is truncated' }],
  },
}

const rateLimited = {
  summary: 'Too many calls: wait for Retry-After, then send it again under the same requestId.',
  value: {
    ...failed,
    errors: [{ code: 'RATE_LIMITED', message: 'Project rate limit exceeded.' }],
  },
}
