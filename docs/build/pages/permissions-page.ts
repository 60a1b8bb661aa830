import { allActions } from '../../../src/actions/all-actions.ts'
import { allPermissions } from '../../../src/http/permissions.ts'
import { toOpenApiPath } from '../../../src/http/openapi/paths.ts'
import { restRoutes } from '../../../src/http/routes/rest-routes.ts'
import { markdownTable } from './markdown-table.ts'

/** Returns `docs/reference/permissions.md`: every permission, from the actions and routes. */
export function permissionsPage(): string {
  return `${[
    introduction,
    markdownTable(
      ['Permission', 'Allows', 'Endpoints'],
      allPermissions.map(({ permission, summary }) => [
        `\`${permission}\``,
        summary,
        endpointsOf(permission),
      ]),
    ),
    conditions(),
    advice,
  ].join('\n\n')}\n`
}

const introduction = `# Permissions

Generated from the actions and routes by \`npm run docs\`; do not edit.

A key belongs to one project and has the permissions that were set when it was created or last edited. Without the permission, an action returns FORBIDDEN and a route 403. Set the permissions with \`facegate key create --permissions a,b\` or on the *API keys* page of the console, which also changes them later and has presets. A key expires after the time of \`--expires\` (\`90d\`, a date, or \`never\`), by default after 365 days. Roles of console users are independent of these permissions: [console.md](../operations/console.md).`

/** Of each action: the permissions that some of its calls need in addition. */
function conditions(): string {
  const rows = allActions.flatMap(({ name, furtherPermissions = [] }) =>
    furtherPermissions.map(({ permission, condition }) => [
      `\`${name}\``,
      `\`${permission}\``,
      condition,
    ]),
  )
  return `## Permissions of some calls

A call that adds a face to an existing subject and repeats its names, groups, attributes and expiry, or omits them, needs only the permission of the action. These calls need another one. Without it, the result is FORBIDDEN: nothing is changed or billed, and the same \`requestId\` can be sent again.

${markdownTable(['Action', 'Permission', 'Needed'], rows)}`
}

const advice = `## Recommended permissions

| Use of the key | Permissions |
|---|---|
| a door, a terminal | \`svc.identify\`, or \`svc.verify\` with a card that identifies the person |
| an enrollment desk | \`svc.enroll\`, \`svc.analyze\`; to correct names and groups also \`svc.updateSubject\` |
| a program that removes or moves faces | also \`svc.deleteSubject\` |
| a program that must correct mistakes of the comparison | also \`faces:force\` |
| a system that deletes people who leave | \`svc.deleteSubject\`, \`deletions:read\` |
| an auditor | \`subjects:read\`, \`deletions:read\` |
| a public web page | only \`svc.detect\`, in a project with a small budget |`

function endpointsOf(permission: string): string {
  const routes = restRoutes
    .filter((route) => route.permission === permission)
    .map(({ method, path }) => `\`${method} ${toOpenApiPath(path)}\``)
  const execute = permission.startsWith('svc.') ? ['`POST /v1/face/execute`'] : []
  return [...execute, ...routes].join(', ')
}
