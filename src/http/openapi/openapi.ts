import { allActions } from '../../actions/all-actions.ts'
import { errorTable } from '../../lib/errors.ts'
import { executePath } from './execute-path.ts'
import { openApiHeaders } from './headers.ts'
import { errorResponses } from './error-responses.ts'
import { restPaths } from './rest-paths.ts'
import { openApiSchemas } from './schemas.ts'
import { servicePaths } from './service-paths.ts'
import { openApiExamples } from './examples.ts'

type OpenApiObject = { readonly [key: string]: unknown }

/** What a request may be at most; the numbers are those of the running service. */
export type ApiLimits = Readonly<Record<string, number>>

/** The OpenAPI 3.1 description of the service, derived from the schemas that validate. */
export function openApiDocument(version: string, limits: ApiLimits = {}): OpenApiObject {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Facegate',
      version,
      summary: 'Self-hosted face recognition: one endpoint, an action per call.',
      description: [introduction, limitsText(limits), errorsText()].join('\n\n'),
      contact: { name: 'Whoever runs this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service that this description came from.' }],
    security: [{ apiKey: [] }],
    tags: [
      { name: 'face', description: `The actions: ${allActions.map(nameOf).join(', ')}.` },
      { name: 'gallery', description: 'What the gallery holds. Free of charge.' },
      { name: 'service', description: 'About the service itself. No key needed.' },
    ],
    paths: { ...executePath(), ...restPaths(), ...servicePaths() },
    components: {
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: 'The whole key. It says whose project, gallery, budget and limits hold.',
        },
      },
      schemas: openApiSchemas(),
      responses: errorResponses(),
      headers: openApiHeaders,
      examples: openApiExamples(),
    },
    'x-limits': limits,
    'x-error-catalogue': errorTable,
  }
}

const introduction = `Every action is a call of \`POST /v1/face/execute\`; its \`action\` says what to do. An
action that ran or failed is HTTP 200: branch on \`ok\`, and on \`errors[].code\` when it is false.
Other statuses carry \`{"detail"}\`.

**Retries.** Send a \`requestId\` (a UUID) with every call. The same call under the same id within 24
hours is done and charged once; its answer is said again with \`meta.idempotencyReplay\`. Retry
RATE_LIMITED, 429, 503 and broken connections under the same id, after \`Retry-After\` and a random
wait that grows. You pay only for \`ok: true\`.`

function limitsText(limits: ApiLimits): string {
  const lines = Object.entries(limits).map(([name, value]) => `| \`${name}\` | ${value} |`)
  return lines.length === 0
    ? ''
    : ['## Limits', '', '| Limit | |', '|---|---|', ...lines].join('\n')
}

/** For people; `x-error-catalogue` is the same for programs. */
function errorsText(): string {
  const lines = Object.entries(errorTable).map(
    ([code, { status, condition, remedy }]) => `| ${code} | ${status} | ${condition} | ${remedy} |`,
  )
  const head = ['## Errors', '', '| Code | HTTP | When | What to do |', '|---|---|---|---|']
  return [...head, ...lines].join('\n')
}

const nameOf = ({ name }: { readonly name: string }): string => `\`${name}\``
