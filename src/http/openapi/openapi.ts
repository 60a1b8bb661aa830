import { readFileSync } from 'node:fs'
import { allActions } from '../../actions/all-actions.ts'
import { errorTable } from '../../lib/errors.ts'
import { acceptedContentTypes, type ExtraImageType } from '../../lib/image-types/image-types.ts'
import components from './components.json' with { type: 'json' }
import { errorResponses, openApiExamples, openApiHeaders } from './components.ts'
import { openApiPaths } from './paths.ts'
import { openApiSchemas, type OpenApiObject } from './openapi-schemas.ts'
import webhooks from './webhooks.json' with { type: 'json' }

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
  const { apiKey, bearerKey } = components.securitySchemes
  const schemes = { apiKey, ...(extensions.bearerKeys && { bearerKey }) }
  const description = [introduction, limitsText(limits), errorsText()].join('\n\n')
  return {
    openapi: '3.1.0',
    info: { ...components.info, version, description },
    servers: components.servers,
    security: Object.keys(schemes).map((name) => ({ [name]: [] })),
    tags: [
      { name: 'face', description: `The actions: ${allActions.map(nameOf).join(', ')}.` },
      ...components.tags,
      ...optional.map(({ tag }) => tag),
    ],
    paths: mergeObjects(openApiPaths(imageBodyTypes), ...optional.map(({ paths }) => paths)),
    // docs/reference/webhooks.md describes the fields of `data` of each event.
    webhooks,
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

function mergeObjects(...objects: readonly OpenApiObject[]): OpenApiObject {
  return Object.fromEntries(objects.flatMap((object) => Object.entries(object)))
}

const introduction = readFileSync(new URL('introduction.md', import.meta.url), 'utf8').trim()

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
