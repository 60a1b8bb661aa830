import { Anchor, Box, NativeSelect, Stack, Text } from '@mantine/core'
import { getRouteApi, Link } from '@tanstack/react-router'
import type { ConsoleProject, ConsoleVisitor } from '../../api/responses.ts'
import { useApiQuery } from '../../api/use-api.ts'
import { CodeBlock } from '../../components/code-block.tsx'
import { EmptyState } from '../../components/empty-state.tsx'
import { formatQuantity } from '../../format/numbers.ts'
import { shortIdOf } from '../../format/subject-name.ts'
import { FilterBar } from '../../lists/filters.tsx'
import { ListPanel } from '../../lists/list-panel.tsx'
import { countOnly, listSearch, totalOf } from '../../lists/list-search.ts'
import { useCroppedFaces } from '../subjects/subject-thumbnail.tsx'
import { faceColumn, visitorColumns } from './visitor-columns.tsx'
import { VisitorDrawer } from './visitor-drawer.tsx'

const route = getRouteApi('/subjects')

/** The unknown people that svc.identify stored, the last one seen first. */
export function VisitorList({ projectId }: { readonly projectId: string }) {
  const search = route.useSearch()
  const { visitor, cursor, sort, limit, ignored } = search
  const navigate = route.useNavigate()
  const pathParams = { projectId }
  const project = useApiQuery('/projects/:projectId', { pathParams }).data
  const query = useApiQuery('/projects/:projectId/visitors', {
    pathParams,
    query: { ignored, cursor, sort, limit },
  })
  const count = useApiQuery('/projects/:projectId/visitors', {
    pathParams,
    query: { ignored, ...countOnly },
  })
  const crops = useCroppedFaces(
    projectId,
    (query.data?.items ?? []).map(({ visitorId }) => visitorId),
  )
  const open = (visitorId: string | undefined): void =>
    void navigate({
      search: (old) => ({ ...old, visitor: visitorId }),
      replace: visitorId === undefined,
    })
  const show = (chosen: string | undefined): void =>
    void navigate({ search: (old) => ({ ...old, ignored: chosen, cursor: undefined }) })
  return (
    <Stack gap="sm">
      <FilterBar values={{ ignored }} onClear={() => show(undefined)}>
        <NativeSelect
          size="xs"
          label="Show"
          data={shownKinds}
          value={ignored ?? 'false'}
          onChange={({ currentTarget: { value } }) => show(value === 'false' ? undefined : value)}
        />
      </FilterBar>
      {project && (query.data?.items.length ?? 0) > 0 && <Retention project={project} />}
      <ListPanel
        caption="Visitors"
        query={query}
        columns={[faceColumn(projectId, crops), ...visitorColumns]}
        rowKey={({ visitorId }) => visitorId}
        {...listSearch(
          search,
          (change) => void navigate({ search: (old) => ({ ...old, ...change }) }),
        )}
        defaultSort="-seen"
        total={totalOf(count)}
        onOpen={({ visitorId }) => open(visitorId)}
        openLabel={({ visitorId }: ConsoleVisitor) => `Open visitor ${shortIdOf(visitorId)}`}
        empty={project && <NoVisitors project={project} ignored={ignored} />}
      />
      {visitor && (
        <VisitorDrawer
          key={visitor}
          projectId={projectId}
          visitorId={visitor}
          onClose={() => open(undefined)}
        />
      )}
    </Stack>
  )
}

const shownKinds = [
  { value: 'false', label: 'Not ignored' },
  { value: 'true', label: 'Ignored' },
  { value: 'all', label: 'All' },
]

/** How long the visitors are stored. */
function Retention({ project }: { readonly project: ConsoleProject }) {
  const { switches, visitorRetentionDays } = project
  return (
    <Text size="sm" c="dimmed">
      {!switches.unknownPeople && 'Unknown people are no longer stored. '}A visitor is deleted{' '}
      {formatQuantity(visitorRetentionDays, 'day')} after its last picture.
    </Text>
  )
}

type NoVisitorsProps = {
  readonly project: ConsoleProject
  readonly ignored: string | undefined
}

/** States why there is no visitor. */
function NoVisitors({ project, ignored }: NoVisitorsProps) {
  if (ignored === 'true')
    return <EmptyState title="No ignored visitors">Other visitors can be stored.</EmptyState>
  if (project.switches.unknownPeople)
    return (
      <EmptyState title="No visitors yet">
        svc.identify stores a visitor for a face that matches no subject. {guideLink}
      </EmptyState>
    )
  return (
    <EmptyState title="Unknown people are not stored">
      <Stack gap="xs" align="center">
        <span>
          Read{' '}
          <Anchor underline="always" href="/docs/gdpr.html#unknown-people">
            the questions to decide first
          </Anchor>
          . Then switch on Store unknown people in the{' '}
          <Anchor
            underline="always"
            renderRoot={(props) => (
              <Link {...props} to="/projects/$id" params={{ id: project.projectId }} />
            )}
          >
            settings of the project
          </Anchor>
          , or run:
        </span>
        <Box ta="left">
          <CodeBlock
            label="Command"
            text={`facegate project set ${project.projectId} --unknown-people 30`}
          />
        </Box>
        <span>{guideLink}</span>
      </Stack>
    </EmptyState>
  )
}

const guideLink = (
  <Anchor underline="always" href="/docs/guides/unknown-people.html">
    Guide: unknown people
  </Anchor>
)
