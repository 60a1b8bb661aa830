import { Text } from '@mantine/core'
import type { ConsoleCalibrationPoint, ModelsOverview } from '../api/responses.ts'
import { useApiQuery } from '../api/use-api.ts'
import { FalseMatchRateChart } from '../charts/lazy-charts.tsx'
import { LinkButton } from '../components/link-button.tsx'
import { QueryContent } from '../components/query-content.tsx'
import { DataTable, type Column } from '../lists/data-table.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { formatBytes, formatCount } from '../format/numbers.ts'
import { Page } from '../layout/page.tsx'
import { Panel } from '../layout/panel.tsx'
import { GalleryCalibrations } from './gallery-calibrations.tsx'

type ModelRow = ModelsOverview['active'][number]
type ModelCalibration = NonNullable<ModelsOverview['calibration']>

/** The installed models with their licences, and the false-match rate by threshold. */
export function ModelsPage() {
  const query = useApiQuery('/models')
  return (
    <Page
      title="Models"
      description="Models with licence and checksum, and the calibration of the active recognizer."
      actions={
        <LinkButton to="/pair-tester" size="sm" variant="default">
          Compare two pictures
        </LinkButton>
      }
    >
      <QueryContent query={query}>
        {({ active, installed, calibration, galleryCalibrations, comparable }) => (
          <>
            <Panel title="Active">
              <ModelTable caption="Active models" models={active} />
            </Panel>
            {calibration && (
              <Panel title="False-match rate by threshold">
                <CalibrationSection calibration={calibration} />
              </Panel>
            )}
            <Panel title="Calibration of galleries">
              <GalleryCalibrations calibrations={galleryCalibrations} />
            </Panel>
            <Panel title="Templates by model">
              <DataTable
                caption="Templates by model"
                rows={comparable}
                rowKey={({ modelId }) => modelId}
                columns={[
                  { name: 'Model', isMonospace: true, renderCell: ({ modelId }) => modelId },
                  {
                    name: 'Templates',
                    align: 'right',
                    renderCell: ({ faces }) => formatCount(faces),
                  },
                ]}
                empty={
                  <EmptyState title="No templates">
                    Only templates of the same model can be compared.
                  </EmptyState>
                }
              />
            </Panel>
            <Panel title="Installed">
              <ModelTable caption="Installed models" models={installed} />
            </Panel>
          </>
        )}
      </QueryContent>
    </Page>
  )
}

type ModelTableProps = { readonly caption: string; readonly models: readonly ModelRow[] }

function ModelTable({ caption, models }: ModelTableProps) {
  return (
    <DataTable
      caption={caption}
      rows={models}
      rowKey={({ role, id, file }) => `${role} ${id} ${file}`}
      columns={columns}
      empty={
        <EmptyState title="No model packs">Only the built-in models are available.</EmptyState>
      }
    />
  )
}

const columns: readonly Column<ModelRow>[] = [
  { name: 'Role', renderCell: ({ role }) => role },
  { name: 'Model', isMonospace: true, renderCell: ({ id, version }) => `${id}@${version}` },
  { name: 'Licence', renderCell: ({ licence }) => licence },
  { name: 'Commercial use', renderCell: ({ commercialUse }) => commercialUse },
  { name: 'Size', align: 'right', renderCell: ({ bytes }) => formatBytes(bytes) },
  {
    name: 'SHA-256',
    isMonospace: true,
    renderCell: ({ sha256 }) => <span title={sha256}>{sha256.slice(0, 16)}…</span>,
  },
  { name: 'Source', renderCell: ({ builtIn }) => (builtIn ? 'Built-in' : 'Model pack') },
]

function CalibrationSection({ calibration }: { readonly calibration: ModelCalibration }) {
  return (
    <>
      <Text size="sm" c="dimmed" mb="sm">
        {calibration.modelId}, measured on {calibration.set}, {calibration.measuredOn}. The
        false-match rate is the share of comparisons of two different people that reach the
        threshold.
        {calibration.populations === undefined &&
          ' The table holds only for pictures like those of its set. Before access control, calibrate each gallery.'}
      </Text>
      <FalseMatchRateChart points={calibration.points} />
      <DataTable
        caption="False-match rate by threshold"
        rows={calibration.points}
        rowKey={({ fmr, score }) => `${fmr} ${score}`}
        columns={pointColumns}
        empty={null}
      />
    </>
  )
}

const pointColumns: readonly Column<ConsoleCalibrationPoint>[] = [
  { name: 'False-match rate', align: 'right', renderCell: ({ fmr }) => fmr.toExponential(0) },
  { name: 'One in', align: 'right', renderCell: ({ fmr }) => formatCount(Math.round(1 / fmr)) },
  { name: 'Similarity', align: 'right', renderCell: ({ similarity }) => similarity.toFixed(3) },
  { name: 'Raw score', align: 'right', renderCell: ({ score }) => score.toFixed(4) },
  { name: 'Method', renderCell: ({ source }) => source },
]
