class CreateLists < ActiveRecord::Migration[8.0]
  def change
    create_table(:lists) { |t| t.string :title, null: false }
  end
end
