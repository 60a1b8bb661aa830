import { describeType } from './describe-type.ts'
import {
  contractRoutes,
  errorDescription,
  fieldsOf,
  referencedSchemas,
  schemaNameOf,
  type ContractRoute,
} from './contract.ts'
import { fieldsTable } from './fields-table.ts'
import { markdownTable } from './markdown-table.ts'
import { exampleTabs } from './route-examples.ts'

/** All files of the folder are generated. */
export const routesFolder = 'docs/reference/routes'

const notice = 'Generated from the OpenAPI description by `npm run docs`; do not edit.'

/** The routes about the service share one page. */
const isAboutService = ({ tags }: ContractRoute): boolean => tags.includes('service')

const keyRoutes = contractRoutes.filter((route) => !isAboutService(route))

/** Returns the pages of all routes by file: one for each route with a key, and one for the others. */
export function routePages(): Readonly<Record<string, () => string>> {
  return {
    [`${routesFolder}/README.md`]: overviewPage,
    ...Object.fromEntries(
      keyRoutes.map((route) => [`${routesFolder}/${fileOf(route)}`, () => routePage(route)]),
    ),
    [`${routesFolder}/service.md`]: servicePage,
  }
}

/** The name of the operation in lower case, with hyphens. The routes of visitors have a folder. */
export function fileOf(route: ContractRoute): string {
  if (isAboutService(route)) return 'service.md'
  const { operationId } = route
  const name = operationId.replaceAll(/[A-Z]/gu, (letter) => `-${letter.toLowerCase()}`)
  return `${isAboutVisitors(route) ? 'visitors/' : ''}${name}.md`
}

function isAboutVisitors({ path }: ContractRoute): boolean {
  return path.startsWith('/v1/visitors')
}

function overviewPage(): string {
  const rows = contractRoutes.map((route) => [
    `[\`${titleOf(route)}\`](${fileOf(route)}${isAboutService(route) ? `#${anchorOf(route)}` : ''})`,
    withFullStop(route.summary),
  ])
  return page([
    '# Routes',
    notice,
    'Each route has a page with its parameters, its response, its errors and an example. The routes of [CompreFace](../compreface.md) are optional and have a separate page.',
    markdownTable(['Route', 'Does'], rows),
  ])
}

function routePage(route: ContractRoute): string {
  const text = pageOfRoute(route)
  return isAboutVisitors(route) ? text.replaceAll('](../', '](../../') : text
}

function pageOfRoute(route: ContractRoute): string {
  const { summary, description, parameters, requestBody, responses, tags } = route
  const [body] = Object.values(requestBody?.content ?? {})
  const [response] = Object.values(responses['200']?.content ?? {})
  const schemas = [body?.schema, response?.schema].filter((schema) => schema !== undefined)
  return page([
    `# \`${titleOf(route)}\``,
    notice,
    `${withFullStop(summary)} ${description}`,
    ...(tags.includes('key') || !description.includes('permission') ? [] : [permissionLink]),
    '## Example',
    exampleTabs(route),
    ...(parameters.length === 0 ? [] : ['## Parameters', parametersTable(route)]),
    ...(body ? ['## Body', fieldsOfContent(body.schema, 'required')] : []),
    ...(response ? ['## Response', fieldsOfContent(response.schema, 'always there')] : []),
    ...(response?.example === undefined
      ? []
      : [`\`\`\`json\n${JSON.stringify(response.example, undefined, 2)}\n\`\`\``]),
    '## Errors',
    errorsTable(route),
    ...namedSchemas(schemas),
  ])
}

const permissionLink = 'The page [permissions](../permissions.md) lists all permissions.'

/** The schemas of the endpoint of the actions have a page for themselves. */
const actionSchemas: ReadonlySet<string | undefined> = new Set(['Request', 'Response'])

function fieldsOfContent(schema: object, mark: string): string {
  if (actionSchemas.has(schemaNameOf(schema)))
    return 'JSON: the page [actions](../actions.md) lists the parameters and the results of each action.'
  return `JSON (\\* ${mark}):\n\n${fieldsTable(fieldsOf(schema))}`
}

function namedSchemas(schemas: readonly object[]): string[] {
  const names = new Set(
    schemas
      .filter((schema) => !actionSchemas.has(schemaNameOf(schema)))
      .flatMap((schema) => [...referencedSchemas(schema)]),
  )
  if (names.size === 0) return []
  const sections = [...names].map(
    (name) => `### ${name}\n\n${fieldsTable(fieldsOf({ $ref: `#/components/schemas/${name}` }))}`,
  )
  return ['## Shapes', 'Parts of the body or of the response (\\* always there).', ...sections]
}

function parametersTable({ parameters }: ContractRoute): string {
  return markdownTable(
    ['Parameter', 'In', 'Type', 'Meaning'],
    parameters.map(({ name, in: location, required, description = '', schema }) => [
      `\`${name}\`${required ? String.raw` \*` : ''}`,
      location,
      `\`${describeType(schema)}\``,
      description,
    ]),
  )
}

function errorsTable({ responses }: ContractRoute): string {
  const statuses = Object.keys(responses).filter((status) => status !== '200')
  return `The body of an error is \`{"detail": "…"}\` ([errors](../errors.md#statuses-without-an-envelope)).

${markdownTable(
  ['HTTP', 'When'],
  statuses.map((status) => [status, errorDescription(status)]),
)}`
}

function servicePage(): string {
  const sections = contractRoutes.filter(isAboutService).map((route) => {
    const { summary, description, responses } = route
    const [contentType] = Object.keys(responses['200']?.content ?? {})
    return `## \`${titleOf(route)}\`

${withFullStop(summary)} ${description} The response is \`${contentType}\`.

\`\`\`sh
curl -sS http://127.0.0.1:8080${route.path} -o response
\`\`\``
  })
  return page([
    '# Routes about the service',
    notice,
    'These routes need no key and contain no data of the installation. A proxy should not publish `/metrics`, `/healthz` and `/readyz` ([production checklist](../../operations/production-checklist.md#machine-and-network)).',
    ...sections,
  ])
}

function titleOf({ method, path }: ContractRoute): string {
  return `${method} ${path}`
}

/** As the site and GitHub name the section of a route on the page of the service. */
function anchorOf(route: ContractRoute): string {
  return titleOf(route)
    .toLowerCase()
    .replaceAll(/[^a-z0-9\s_-]/gu, '')
    .replaceAll(' ', '-')
}

function withFullStop(text: string): string {
  return text.endsWith('.') ? text : `${text}.`
}

function page(parts: readonly string[]): string {
  return `${parts.join('\n\n')}\n`
}
