import type { Action } from '../../actions/action.ts'
import { allActions } from '../../actions/all-actions.ts'
import { toParamsSchema } from '../../actions/schemas/json-schema.ts'

type OpenApiObject = { readonly [key: string]: unknown }

const requestId = '7f8f4c0e-3a52-4f0b-9a70-0c6c8c2f9f61'

/** A picture that is cut to its first bytes. */
const image = { kind: 'image', contentType: 'image/jpeg', bytes: '/9j/4AAQSkZJRg==' }

/** `components.examples`: a request and an answer of every action, and the ways to fail. */
export function openApiExamples(): OpenApiObject {
  return Object.fromEntries([
    ...allActions.flatMap((action) => [
      [`${action.name}.request`, requestExample(action)],
      [`${action.name}.answer`, responseExample(action)],
    ]),
    ['failure', failureExample],
    ['rateLimited', rateLimitedExample],
  ])
}

/** The examples of a request, or of an answer, by reference. */
export function exampleRefs(kind: 'request' | 'answer'): OpenApiObject {
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

function requestExample(action: Action): OpenApiObject {
  const { name, summary, example } = action
  const images = toParamsSchema(action).required.includes('images') ? { images: [image] } : {}
  const value = { action: name, requestId, params: { ...images, ...example.params } }
  return { summary, value }
}

function responseExample({ name, summary, example }: Action): OpenApiObject {
  const result = { index: 0, correlationId: 'auto-0', ok: true, value: example.value }
  const value = { ok: true, requestId, action: name, data: { results: [result] }, errors: [] }
  return { summary, value }
}

const failedEnvelope = { ok: false, requestId, action: 'svc.detect', data: null }

const failureExample = {
  summary: 'The picture cannot be read.',
  value: {
    ...failedEnvelope,
    errors: [{ code: 'IMAGE_DECODE_FAILED', message: 'params.images[0]: the image is truncated' }],
  },
}

const rateLimitedExample = {
  summary: 'Too many calls: wait for Retry-After, then send it again under the same requestId.',
  value: {
    ...failedEnvelope,
    errors: [{ code: 'RATE_LIMITED', message: 'Project rate limit exceeded.' }],
  },
}
