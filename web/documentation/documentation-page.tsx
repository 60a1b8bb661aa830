import { Select, SimpleGrid, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useApiQuery } from '../api/use-api.ts'
import { ActionPage } from './action-page.tsx'
import { ErrorCatalogue } from './error-catalogue.tsx'
import { fetchOpenApi } from './open-api.ts'
import { RouteTable } from './route-table.tsx'
import { GettingStarted } from './getting-started.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { Page } from '../layout/page.tsx'

const route = getRouteApi('/documentation')

const fixedTopics = [
  { value: 'start', label: 'Getting started' },
  { value: 'routes', label: 'Routes' },
  { value: 'errors', label: 'Errors' },
]

/** The API documentation of this server, with its address in every snippet. */
export function DocumentationPage() {
  const { topic = 'start' } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useApiQuery('/actions')
  const actions = query.data ?? []
  const action = actions.find(({ name }) => name === topic)
  return (
    <Page title="Documentation" description="Generated from the running API schema.">
      <Select
        label="Topic"
        maw={360}
        allowDeselect={false}
        value={topic}
        data={[
          { group: 'General', items: fixedTopics },
          { group: 'Actions', items: actions.map(({ name }) => name) },
        ]}
        onChange={(value) =>
          void navigate({ search: (old) => ({ ...old, topic: value ?? undefined }) })
        }
      />
      <Stack>
        {action && <ActionPage action={action} />}
        {topic === 'start' && <GettingStarted />}
        {topic === 'routes' && <Routes />}
        {topic === 'errors' && <ErrorCatalogue />}
      </Stack>
    </Page>
  )
}

function Routes() {
  const query = useQuery({ queryKey: ['openapi'], queryFn: fetchOpenApi })
  return (
    <SimpleGrid cols={1}>
      <QueryContent query={query}>{(openApi) => <RouteTable openApi={openApi} />}</QueryContent>
    </SimpleGrid>
  )
}
