import { allPermissions } from '../../src/http/permissions.ts'
import { toOpenApiPath } from '../../src/http/openapi/rest-paths.ts'
import { restRoutes } from '../../src/http/routes/rest-routes.ts'
import { markdownTable } from './markdown-table.ts'

/** `docs/reference/permissions.md`: what a key can be allowed, out of the actions and routes. */
export function permissionsPage(): string {
  return `${[
    introduction,
    markdownTable(
      ['Permission', 'Allows', 'By'],
      allPermissions.map(({ permission, summary }) => [
        `\`${permission}\``,
        summary,
        endpointsOf(permission),
      ]),
    ),
    advice,
  ].join('\n\n')}\n`
}

const introduction = `# Permissions

Made of the actions and routes by \`npm run docs\`; do not edit.

A key belongs to one project and may do what it was minted for; a key without the permission is answered FORBIDDEN (an action) or 403 (a route). \`facegate key create --permissions a,b\` or the console's *Keys* page says what. What people may do in the console is another matter: [console.md](console.md).`

const advice = `## Which to give

| Who has the key | Permissions |
|---|---|
| a door, a terminal | \`svc.identify\`, or \`svc.verify\` where a card says who it ought to be |
| the desk that enrols | \`svc.enroll\`, \`svc.analyze\`, \`svc.updateSubject\` |
| the system that knows who leaves | \`svc.deleteSubject\`, \`deletions:read\` |
| an auditor | \`subjects:read\`, \`deletions:read\` |
| a page that everybody can open | \`svc.detect\` at most, in a project with a small budget |`

function endpointsOf(permission: string): string {
  if (permission.startsWith('svc.')) return '`POST /v1/face/execute`'
  return restRoutes
    .filter((route) => route.permission === permission)
    .map(({ method, path }) => `\`${method} ${toOpenApiPath(path)}\``)
    .join(', ')
}
