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

export const callLog = defineCommand({
  name: 'log',
  summary: 'show the request log, newest call first',
  options: {
    project: optionalProject,
    key: optional('<keyId>', 'only calls with this key', anyText),
    action: optional(
      '<action>',
      'only calls of this action, or of a route such as "GET /v1/subjects"',
      action,
    ),
    code: optional(
      '<code>',
      'only calls with this result: OK, an error code, HTTP_<status>, or EXPIRED for a call that expired',
      code,
    ),
    outcome: optional('<outcome>', 'only calls that decided this', oneOf(callOutcomes)),
    'near-miss': flag(
      'only calls whose similarity or liveness score is below the threshold by at most 0.05',
    ),
    from: optional('<ISO 8601>', 'only calls from this time on; UTC without an offset', timeUtc),
    to: optional('<ISO 8601>', 'only calls before this time', timeUtc),
    limit: withDefault('<n>', 'number of calls', { ...wholeNumber(1, limitMax), default: '50' }),
  },
  description:
    "A cost in brackets is the price of a call that was not charged, because the project's billing was off. --json prints one object per line.",
  run: async (values) => (await import('./show-call-log.ts')).showCallLog(values),
})
