-- What a person does in Neovim: opens a file, sees a finding, takes the fix, reads the rule's page, undoes it all.
-- Writes what it saw as JSON to the file in $SEEN. Where Neovim is new enough, the server is started by what the page
-- for editors tells people to write, which is in the file in $DOCUMENTED.
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

local id
if vim.lsp.start then
  vim.cmd('filetype on')
  dofile(os.getenv('DOCUMENTED'))
  vim.cmd('edit src/lib.rs')
  local clients = vim.lsp.get_clients or vim.lsp.get_active_clients
  wait('the server', function() return #clients({ name = 'leaselint' }) > 0 end)
  id = clients({ name = 'leaselint' })[1].id
  seen.started = 'as documented'
else
  vim.cmd('edit src/lib.rs')
  id = vim.lsp.start_client({ name = 'leaselint', cmd = { 'leaselint', 'lsp' }, root_dir = folder })
  vim.lsp.buf_attach_client(0, id)
  seen.started = 'by hand'
end
wait('the finding', function() return #vim.diagnostic.get(0) > 0 end)
seen.rules = rules()
local diagnostic = vim.diagnostic.get(0)[1]
seen.text = vim.api.nvim_buf_get_text(0, diagnostic.lnum, diagnostic.col, diagnostic.end_lnum, diagnostic.end_col, {})
local encoding = vim.lsp.get_client_by_id(id).offset_encoding
seen.encoding = encoding

vim.api.nvim_win_set_cursor(0, { diagnostic.lnum + 1, diagnostic.col })
local here = vim.lsp.util.make_position_params(0, encoding)
local hover = vim.lsp.buf_request_sync(0, 'textDocument/hover', here, 60000)
seen.page = hover[id].result.contents.value

local asked = vim.lsp.util.make_range_params(0, encoding)
asked.context = { diagnostics = {} }
local actions = vim.lsp.buf_request_sync(0, 'textDocument/codeAction', asked, 60000)[id].result
seen.titles = vim.tbl_map(function(action) return action.title end, actions)
vim.lsp.util.apply_workspace_edit(actions[1].edit, encoding)
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
