import { errorTable } from '../../lib/errors.ts'
import { callOutcomes } from '../../lib/observability/call-decision.ts'
import { defineCommand } from '../command-line/define-command.ts'
import { anyText, nameFrom, oneOf, timeUtc, wholeNumber } from '../command-line/value-kinds.ts'
import { flag, optional, withDefault, optionalProject } from '../options.ts'

/** The most rows of one output. */
const limitMax = 100_000

/** Routes are logged with their method and path. */
const action = nameFrom(async () => {
  const [{ allActions }, { restRoutes }, { compreFaceRouteList }] = await Promise.all([
    import('../../actions/all-actions.ts'),
    import('../../http/routes/rest-routes.ts'),
    import('../../compreface/compreface-routes.ts'),
  ])
  const routes = [...restRoutes, ...compreFaceRouteList]
  return [
    ...allActions.map(({ name }) => name),
    ...routes.map(({ method, path }) => `${method} ${path}`),
  ]
})
const code = nameFrom(['OK', 'EXPIRED', ...Object.keys(errorTable)], (text) =>
  /^HTTP_\d{3}$/u.test(text),
)

export const callLog = defineCommand('log', {
  options: {
    project: optionalProject,
    key: optional('<keyId>', anyText),
    action: optional('<action>', action),
    code: optional('<code>', code),
    outcome: optional('<outcome>', oneOf(callOutcomes)),
    'near-miss': flag(),
    from: optional('<ISO 8601>', timeUtc),
    to: optional('<ISO 8601>', timeUtc),
    limit: withDefault('<n>', wholeNumber(1, limitMax), '50'),
  },
  run: async (values) => (await import('./show-call-log.ts')).showCallLog(values),
})
