import { readFileSync } from 'node:fs'
import { z } from 'zod'
import type { Action } from '../../actions/action.ts'
import { allActions } from '../../actions/all-actions.ts'
import { toParamsSchema } from '../../actions/schemas/params-schema.ts'
import { errorTable } from '../../lib/errors.ts'
import { describeType } from './describe-type.ts'
import { toOpenApiPath } from './paths.ts'
import { restRoutes } from '../routes/rest-routes.ts'

/** Returns the documentation page, derived from the definitions that the service uses. */
export function docsPage(version: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Facegate API</title>
<style>${style}</style>
</head>
<body><main>
<h1>Facegate <small>${escape(version)}</small></h1>
<p>One endpoint, <code>POST /v1/face/execute</code>, with your key in <code>X-Api-Key</code>. The
<code>action</code> of the body selects the action. The machine-readable form of this page is
<a href="/v1/openapi.json">openapi.json</a>.</p>
<p>Responses of an action are HTTP 200 with <code>ok</code>; when it is false, <code>errors</code> has
the reasons. All other responses are an error status with <code>{"detail"}</code>.</p>
<h2>Actions</h2>
${allActions.map(actionSection).join('\n')}
<h2>Routes</h2>
<p>These return plain JSON with HTTP statuses. They use the same key and rate limit and are free.</p>
${routesTable()}
<h2 id="errors">Errors</h2>
${errorsTable()}
</main></body></html>`
}

function actionSection(action: Action): string {
  const price = action.price(1)
  return `<section id="${action.name}">
<h3>${action.name}</h3>
<p>${escape(action.summary)} ${price === 0 ? 'Free.' : `Costs ${price} unit${price === 1 ? '' : 's'} when ok.`}</p>
<h4>params</h4>
${paramsTable(action)}
<h4>value</h4>
<pre>${escape(JSON.stringify(action.example.value, undefined, 2))}</pre>
<p>Error codes of this action: ${action.errors.map((code) => `<a href="#errors"><code>${code}</code></a>`).join(', ')}</p>
</section>`
}

function paramsTable(action: Action): string {
  const { properties, required } = toParamsSchema(action)
  const rows = Object.entries(properties).map(([name, field]) => [
    `<code>${name}</code>${required.includes(name) ? ' *' : ''}`,
    escape(describeType(field)),
    field.default === undefined ? '' : `<code>${escape(JSON.stringify(field.default))}</code>`,
    escape(field.description ?? ''),
  ])
  return table(['field (* required)', 'type', 'default', ''], rows)
}

function errorsTable(): string {
  return table(
    ['code', 'HTTP', 'when', 'what to do'],
    Object.entries(errorTable).map(([code, { status, condition, remedy }]) => [
      `<code>${code}</code>`,
      String(status),
      escape(condition),
      escape(remedy),
    ]),
  )
}

function routesTable(): string {
  return table(
    ['route', 'permission', '', 'parameters'],
    restRoutes.map(({ method, path, permission, summary, query, body }) => [
      `<code>${method} ${escape(toOpenApiPath(path))}</code>`,
      permission === null ? 'every key' : `<code>${permission}</code>`,
      escape(summary),
      [query, ...(body ? [body] : [])]
        .flatMap((fields) => Object.keys(z.toJSONSchema(fields, { io: 'input' }).properties ?? {}))
        .map((name) => `<code>${name}</code>`)
        .join(', '),
    ]),
  )
}

/** The cells are HTML. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const row = (cells: readonly string[], tag: 'td' | 'th'): string =>
    `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join('')}</tr>`
  return `<table>${row(head, 'th')}\n${rows.map((cells) => row(cells, 'td')).join('\n')}</table>`
}

function escape(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
  }
  return text.replaceAll(/[&<>"]/gu, (character) => entities[character] ?? character)
}

const style = readFileSync(new URL('docs-page.css', import.meta.url), 'utf8')
