import { allActions } from '../../actions/all-actions.ts'
import { errorTable } from '../../lib/errors.ts'
import { acceptedContentTypes, type ExtraImageType } from '../../lib/image-types/image-types.ts'
import { errorResponses, openApiExamples, openApiHeaders } from './components.ts'
import { openApiPaths } from './paths.ts'
import { openApiWebhooks } from './webhooks.ts'
import { openApiSchemas, type OpenApiObject } from './openapi-schemas.ts'

/** The limits of requests, with the values of the running service. */
export type ApiLimits = Readonly<Record<string, number>>

/** The description of routes that a setting switches on. */
export type OptionalRoutes = {
  readonly tag: { readonly name: string; readonly description: string }
  readonly paths: OpenApiObject
  readonly schemas: OpenApiObject
}

/** What the settings of a server add to the API. */
export type ApiExtensions = {
  /** Image types in addition to JPEG and PNG. */
  readonly extraImageTypes?: readonly ExtraImageType[]
  /** The content types of images as the body, which permit forms, too. */
  readonly imageBodyTypes?: readonly string[] | undefined
  /** Whether `Authorization: Bearer` is accepted. */
  readonly bearerKeys?: boolean
  readonly optionalRoutes?: readonly OptionalRoutes[]
}

/** Returns the OpenAPI 3.1 description, derived from the schemas that validate requests. */
export function openApiDocument(
  version: string,
  limits: ApiLimits = {},
  extensions: ApiExtensions = {},
): OpenApiObject {
  const { extraImageTypes, imageBodyTypes, optionalRoutes: optional = [] } = extensions
  const schemes = extensions.bearerKeys ? { ...apiKeyScheme, ...bearerScheme } : apiKeyScheme
  return {
    openapi: '3.1.0',
    info: {
      title: 'Facegate',
      version,
      summary: 'Self-hosted face recognition: one endpoint, an action per call.',
      description: [introduction, limitsText(limits), errorsText()].join('\n\n'),
      contact: { name: 'The operator of this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that returned this description.' }],
    security: Object.keys(schemes).map((name) => ({ [name]: [] })),
    tags: [
      { name: 'face', description: `The actions: ${allActions.map(nameOf).join(', ')}.` },
      { name: 'gallery', description: 'The contents of the gallery. Free of charge.' },
      { name: 'key', description: 'The key of the request. Free of charge.' },
      { name: 'service', description: 'About the service. No key needed.' },
      { name: 'webhooks', description: 'The requests that the service sends to your webhooks.' },
      ...optional.map(({ tag }) => tag),
    ],
    paths: mergeObjects(openApiPaths(imageBodyTypes), ...optional.map(({ paths }) => paths)),
    webhooks: openApiWebhooks(),
    components: {
      securitySchemes: schemes,
      schemas: mergeObjects(
        openApiSchemas(acceptedContentTypes(extraImageTypes)),
        ...optional.map(({ schemas }) => schemas),
      ),
      responses: errorResponses(),
      headers: openApiHeaders,
      examples: openApiExamples(),
    },
    'x-limits': limits,
    'x-error-catalogue': errorTable,
  }
}

const bearerScheme = {
  bearerKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'The same key as `Authorization: Bearer`.',
  },
}

const apiKeyScheme = {
  apiKey: {
    type: 'apiKey',
    in: 'header',
    name: 'X-Api-Key',
    description: 'The complete key. It determines the project, its gallery, budget and rate limit.',
  },
}

function mergeObjects(...objects: readonly OpenApiObject[]): OpenApiObject {
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)))
}

const introduction = `Every action is a call of \`POST /v1/face/execute\`; \`action\` selects it. A successful
or failed action is HTTP 200: branch on \`ok\`, and on \`errors[].code\` when it is false. Other
statuses have the body \`{"detail"}\`.

**Retries.** Send a \`requestId\` (a UUID) with every call. A call that is repeated with the same id
within 24 hours runs and is charged once; the repeated response has \`meta.idempotencyReplay\`. If a
subject of the response was deleted in the meantime, it also has \`meta.redacted\`: the decisions stay,
and the identities are removed. Retry
RATE_LIMITED, 429, 503 and broken connections with the same id, after \`Retry-After\` and a random,
increasing delay. Only \`ok: true\` is charged.`

function limitsText(limits: ApiLimits): string {
  const rows = Object.entries(limits).map(([name, value]) => `| \`${name}\` | ${value} |`)
  return rows.length === 0 ? '' : ['## Limits', '', '| Limit | |', '|---|---|', ...rows].join('\n')
}

/** For people; `x-error-catalogue` has the same content for programs. */
function errorsText(): string {
  const rows = Object.entries(errorTable).map(
    ([code, { status, condition, remedy }]) => `| ${code} | ${status} | ${condition} | ${remedy} |`,
  )
  const head = ['## Errors', '', '| Code | HTTP | When | What to do |', '|---|---|---|---|']
  return [...head, ...rows].join('\n')
}

const nameOf = ({ name }: { readonly name: string }): string => `\`${name}\``
