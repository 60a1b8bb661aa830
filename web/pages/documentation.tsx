import { Select, SimpleGrid, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useAnswer } from '../api/use-api.ts'
import { ActionPage } from '../documentation/action-page.tsx'
import { ErrorCatalogue } from '../documentation/error-catalogue.tsx'
import { readOpenApi } from '../documentation/open-api.ts'
import { RouteTable } from '../documentation/route-table.tsx'
import { StartPage } from '../documentation/start-page.tsx'
import { Answered } from '../parts/answered.tsx'
import { Page } from '../parts/page.tsx'

const route = getRouteApi('/documentation')

const fixedTopics = [
  { value: 'start', label: 'First call' },
  { value: 'routes', label: 'Routes' },
  { value: 'errors', label: 'Errors' },
]

/** The API as this very server describes it, with its own address in every snippet. */
export function DocumentationPage() {
  const { topic = 'start' } = route.useSearch()
  const navigate = route.useNavigate()
  const asked = useAnswer('/actions')
  const actions = asked.data ?? []
  const action = actions.find(({ name }) => name === topic)
  return (
    <Page
      title="Documentation"
      lead="Made from the records that the service itself runs by: it cannot be out of date."
    >
      <Select
        label="Topic"
        maw={360}
        allowDeselect={false}
        value={topic}
        data={[
          { group: 'The service', items: fixedTopics },
          { group: 'Actions', items: actions.map(({ name }) => name) },
        ]}
        onChange={(value) =>
          void navigate({ search: (old) => ({ ...old, topic: value ?? undefined }) })
        }
      />
      <Stack>
        {action && <ActionPage action={action} />}
        {topic === 'start' && <StartPage />}
        {topic === 'routes' && <Routes />}
        {topic === 'errors' && <ErrorCatalogue />}
      </Stack>
    </Page>
  )
}

function Routes() {
  const asked = useQuery({ queryKey: ['openapi'], queryFn: readOpenApi })
  return (
    <SimpleGrid cols={1}>
      <Answered asked={asked}>{(description) => <RouteTable description={description} />}</Answered>
    </SimpleGrid>
  )
}
