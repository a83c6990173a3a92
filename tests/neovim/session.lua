-- What a person does in Neovim: opens a file, sees a finding, takes the fix, reads the rule's page, undoes it all.
-- Writes what it saw as JSON to the file in $SEEN.
vim.o.swapfile = false
local seen, folder = {}, vim.fn.getcwd()

local function wait(what, is_so)
  if not vim.wait(60000, is_so, 20) then
    seen.waited_for = what
    vim.fn.writefile({ vim.fn.json_encode(seen) }, os.getenv('SEEN'))
    vim.cmd('cquit')
  end
end

local function rules()
  local found = {}
  for _, diagnostic in ipairs(vim.diagnostic.get(0)) do
    table.insert(found, diagnostic.code or diagnostic.user_data.lsp.code)
  end
  return found
end

vim.cmd('edit src/lib.rs')
local id = vim.lsp.start_client({ name = 'leaselint', cmd = { 'leaselint', 'lsp' }, root_dir = folder })
vim.lsp.buf_attach_client(0, id)
wait('the finding', function() return #vim.diagnostic.get(0) > 0 end)
seen.rules = rules()
local diagnostic = vim.diagnostic.get(0)[1]
seen.text = vim.api.nvim_buf_get_text(0, diagnostic.lnum, diagnostic.col, diagnostic.end_lnum, diagnostic.end_col, {})
seen.encoding = vim.lsp.get_client_by_id(id).offset_encoding

vim.api.nvim_win_set_cursor(0, { diagnostic.lnum + 1, diagnostic.col })
local here = vim.lsp.util.make_position_params(0, 'utf-16')
local hover = vim.lsp.buf_request_sync(0, 'textDocument/hover', here, 60000)
seen.page = hover[id].result.contents.value

local asked = vim.lsp.util.make_range_params(0, 'utf-16')
asked.context = { diagnostics = {} }
local actions = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', asked, 60000)[id].result
seen.titles = vim.tbl_map(function(action) return action.title end, actions)
vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
wait('the finding to go', function() return #vim.diagnostic.get(0) == 0 end)
seen.fixed = vim.api.nvim_buf_get_lines(0, 0, -1, false)

vim.cmd('silent undo')
wait('the finding to come back', function() return #vim.diagnostic.get(0) > 0 end)
vim.api.nvim_buf_set_lines(0, 0, -1, false, seen.fixed)
vim.cmd('silent write')
wait('the finding to go once more', function() return #vim.diagnostic.get(0) == 0 end)

vim.lsp.stop_client(id)
wait('the end of the server', function() return vim.lsp.client_is_stopped(id) end)
vim.fn.writefile({ vim.fn.json_encode(seen) }, os.getenv('SEEN'))
vim.cmd('quitall!')
