import { SimpleGrid } from '@mantine/core'
import { getRouteApi } from '@tanstack/react-router'
import type { ConsoleProject } from '../api/responses.ts'
import { useHasRole } from '../api/session.ts'
import { useApiQuery } from '../api/use-api.ts'
import { QueryContent } from '../components/query-content.tsx'
import { DefinitionList } from '../components/definition-list.tsx'
import { MoneyAmount } from '../money/money-amount.tsx'
import { formatCount } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { Panel } from '../layout/panel.tsx'
import { UtcTime } from '../components/utc-time.tsx'
import { DeleteProjectSetting } from './deletion/delete-project-setting.tsx'
import { GalleryModeSetting } from './gallery-mode-setting.tsx'
import { ProjectSettingsForm } from './project-settings-form.tsx'
import { ProjectSwitches } from './switches/project-switches.tsx'

const route = getRouteApi('/projects/$id')

/** One project: details, limits, defaults, features and gallery mode. */
export function ProjectPage() {
  const { id } = route.useParams()
  const mayDelete = useHasRole('admin')
  const query = useApiQuery('/projects/:projectId', { pathParams: { projectId: id } })
  return (
    <QueryContent query={query}>
      {(project) => (
        <Page
          title={project.name}
          description="These settings apply to all calls with a key of this project."
          actions={
            <LinkButton size="sm" variant="default" to="/projects">
              All projects
            </LinkButton>
          }
        >
          <SimpleGrid cols={{ base: 1, lg: 2 }} key={project.projectId}>
            <Panel title="Details">
              <ProjectDetails project={project} />
            </Panel>
            <Panel title="Limits and defaults">
              <ProjectSettingsForm project={project} />
            </Panel>
            <Panel title="Features">
              <ProjectSwitches project={project} />
            </Panel>
            <Panel title="Gallery">
              <GalleryModeSetting project={project} />
            </Panel>
            {mayDelete && (
              <Panel title="Deletion">
                <DeleteProjectSetting project={project} />
              </Panel>
            )}
          </SimpleGrid>
        </Page>
      )}
    </QueryContent>
  )
}

function ProjectDetails({ project }: { readonly project: ConsoleProject }) {
  return (
    <DefinitionList
      items={{
        'Project id': <span className="fg-mono">{project.projectId}</span>,
        Created: <UtcTime timestampUtc={project.createdAtUtc} />,
        'API keys': formatCount(project.keyCount),
        Subjects: formatCount(project.subjects),
        Templates: formatCount(project.templates),
        'Available budget': <MoneyAmount micros={project.budgetMicros} />,
        Reserved: <MoneyAmount micros={project.reservedMicros} />,
      }}
    />
  )
}
